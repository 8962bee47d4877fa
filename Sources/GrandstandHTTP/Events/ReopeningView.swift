internal import APNsWire
internal import FoundationEssentials
package import Grandstand
package import JSON

extension Reopening: JSONObjectWritable {
    /// Writes the event and the result of reopening it.
    package func write(members object: inout JSONWriter) {
        for (name, value) in (try? JSONValue(parsing: JSONWriter.text(event)))?.members ?? [] {
            object.name(dynamic: name)
            object.raw(value.source)
        }
        object.objects("channels", parts) { entry, part in
            entry.member("bundleId", part.audience.bundleID.rawValue)
            entry.member("environment", part.audience.environment.rawValue)
            if let variant = part.audience.variant { entry.member("variant", variant.rawValue) }
            entry.member("channel", part.outcome.rawValue)
        }
        object.member("broadcasts", broadcasts.map { $0.uuidString.lowercased() })
        object.member("warnings", warnings)
    }
}
