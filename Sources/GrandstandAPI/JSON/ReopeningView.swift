internal import APNsWire
internal import FoundationEssentials
package import Grandstand

extension Reopening: JSONWritable {
    /// The event, and what its taking back came to.
    package func write(to json: inout JSONWriter) {
        json.object { object in
            for (name, value) in (try? JSONValue(parsing: JSONWriter.text(event)))?.members ?? [] {
                object.name(dynamic: name)
                object.raw(value.source)
            }
            object.name("channels")
            object.array(parts) { writer, part in
                writer.object { entry in
                    entry.member("bundleId", part.audience.bundleID.rawValue)
                    entry.member("environment", part.audience.environment.rawValue)
                    if let variant = part.audience.variant { entry.member("variant", variant.rawValue) }
                    entry.member("channel", part.outcome.rawValue)
                }
            }
            object.member("broadcasts", broadcasts.map { $0.uuidString.lowercased() })
            object.member("warnings", warnings)
        }
    }
}
