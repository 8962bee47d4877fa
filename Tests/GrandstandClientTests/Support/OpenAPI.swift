internal import Foundation

/// openapi.yaml, as far as the client is held to it.
struct OpenAPI {
    struct Operation {
        var operationId: String
        var method: String
        var path: String
        /// Names of parameters in the query.
        var query: Set<String>
        /// Names of header fields.
        var headers: Set<String>
        /// Whether it has a body, and the schema's name where that is one of the document's.
        var hasBody: Bool
        var body: String?
        /// Names of the schemas of an answer 2xx; empty for one without a body or in text.
        var answers: Set<String>

        /// A path of this operation, about what `CallTable` is about.
        var sample: String {
            let values = [
                "{bundleId}": "com.example.Stadium", "{environment}": "production", "{key}": "derby", "{id}": "ID",
                "{delivery}": "DELIVERY", "{quirk}": "management-path", "{installationId}": "INSTALLATION",
                "{activityId}": "ACTIVITY", "{name}": "bl1",
            ]
            return path.split(separator: "/", omittingEmptySubsequences: false).map { values[String($0)] ?? String($0) }
                .joined(separator: "/")
        }
    }

    let schemas: [(name: String, value: YAML)]
    let operations: [Operation]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Sources/GrandstandAPI/openapi.yaml")
        let document = YAML(try String(contentsOf: file, encoding: .utf8))
        schemas = document["components"]?["schemas"]?.members ?? []
        let parameters = document["components"]?["parameters"]
        operations = (document["paths"]?.members ?? []).flatMap { path, methods in
            methods.members.map { method, operation in
                let named = (operation["parameters"]?.elements ?? []).compactMap { parameter in
                    parameter["$ref"]?.string.map(Self.last).flatMap { parameters?[$0] } ?? parameter
                }
                func names(_ place: String) -> Set<String> {
                    Set(named.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string })
                }
                let good = (operation["responses"]?.members ?? []).filter { $0.name.hasPrefix("2") }
                return Operation(
                    operationId: operation["operationId"]?.string ?? "", method: method.uppercased(), path: path,
                    query: names("query"), headers: names("header"), hasBody: operation["requestBody"] != nil,
                    body: operation["requestBody"]?["content"]?["application/json"]?["schema"]?["$ref"]?.string
                        .map(Self.last),
                    answers: Set(good.flatMap { Self.schemas(of: $0.value) }))
            }
        }
    }

    func schema(_ name: String) -> YAML? { schemas.first { $0.name == name }?.value }

    private static func schemas(of response: YAML) -> [String] {
        guard let schema = response["content"]?["application/json"]?["schema"] else { return [] }
        let alternatives = schema["anyOf"]?.elements ?? [schema]
        return alternatives.compactMap { $0["$ref"]?.string.map(last) }
    }

    static func last(_ reference: String) -> String { reference.split(separator: "/").last.map(String.init) ?? "" }
}
