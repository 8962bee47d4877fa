/// Paths of APNs' HTTP API. A bundle ID stands in them as registered, without any `.push-type` suffix.
package enum APNsPath {
    /// Create (`POST`), read (`GET`) and delete (`DELETE`) a channel; which one, a header says.
    package static func channels(of bundleID: String) -> String { "/1/apps/\(bundleID)/channels" }

    /// Every channel ID of the app (`GET`); no paging is documented.
    package static func allChannels(of bundleID: String) -> String { "/1/apps/\(bundleID)/all-channels" }

    /// Send to a channel (`POST`).
    package static func broadcasts(of bundleID: String) -> String { "/4/broadcasts/apps/\(bundleID)" }

    /// Send to one device or one Live Activity (`POST`).
    package static func device(_ token: String) -> String { "/3/device/\(token)" }
}
