internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import Logging

/// Logs to standard error as JSON, one object a line.
struct JSONLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    private let label: String

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { _, new in new }
        var writer = JSONWriter()
        writer.object { object in
            object.member("time", Date())
            object.member("level", event.level.rawValue)
            object.member("logger", label)
            object.member("message", event.message.description)
            for (name, value) in facts.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: name)
                object.string(value.description)
            }
        }
        LogStream.write(writer.bytes + [0x0A])
    }
}
