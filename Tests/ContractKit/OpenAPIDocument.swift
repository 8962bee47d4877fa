internal import Foundation

/// The content of openapi.yaml.
package struct OpenAPIDocument: Sendable {
    package let document: YAML
    package let schemas: [(name: String, value: YAML)]

    /// The document in this repository.
    package static let written: OpenAPIDocument = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "Sources/GrandstandServer/HTTP/openapi.yaml")
        return OpenAPIDocument((try? String(contentsOf: file, encoding: .utf8)) ?? "")
    }()

    package init(_ text: String) {
        document = YAML(text)
        schemas = document["components"]?["schemas"]?.members ?? []
    }

    package func schema(_ name: String) -> YAML? { document["components"]?["schemas"]?[name] }

    /// The node that a reference names. A node without a reference is returned unchanged.
    package func resolved(_ value: YAML) -> YAML {
        guard let reference = value["$ref"]?.string else { return value }
        return reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? .null }
    }

    /// The last part of a reference.
    package static func last(_ reference: String) -> String {
        reference.split(separator: "/").last.map(String.init) ?? ""
    }

    package struct Operation: Sendable {
        package let method: String
        /// The path's template, e.g. `/v1/apps/{bundleId}`.
        package let path: String
        package let value: YAML

        package var id: String { value["operationId"]?.string ?? "" }
    }

    package var operations: [Operation] {
        (document["paths"]?.members ?? []).flatMap { path, methods in
            methods.members.map { Operation(method: $0.name.uppercased(), path: path, value: $0.value) }
        }
    }
}
