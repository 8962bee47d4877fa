// Generated from openapi.yaml by `make contract`. Do not edit.

public import GrandstandContract

extension GrandstandClient.Call where Value == GrandstandClient.ContentTypePage {
    /// Lists the content types of an app.
    public static func listContents(_ bundleId: String) -> Self {
        Self(.listContents, "/v1/apps/\(bundleId)/contents")
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ContentType {
    /// Declares a content type or changes it.
    public static func putContent(
        _ attributesType: String, of bundleId: String, _ draft: GrandstandClient.ContentTypeDraft
    ) -> Self {
        Self(.putContent, "/v1/apps/\(bundleId)/contents/\(attributesType)", body: draft)
    }

    /// Declares a content type or changes it. Takes the body as JSON, so that it may have members that this version
    /// does not know.
    public static func putContent(_ attributesType: String, of bundleId: String, json: RawJSON) -> Self {
        Self(.putContent, "/v1/apps/\(bundleId)/contents/\(attributesType)", body: json)
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.ContentType {
    /// Shows a content type.
    public static func getContent(_ attributesType: String, of bundleId: String) -> Self {
        Self(.getContent, "/v1/apps/\(bundleId)/contents/\(attributesType)")
    }
}

extension GrandstandClient.Call where Value == Void {
    /// Removes a content type.
    public static func deleteContent(_ attributesType: String, of bundleId: String) -> Self {
        Self(.deleteContent, "/v1/apps/\(bundleId)/contents/\(attributesType)")
    }
}
