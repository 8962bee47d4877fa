internal import APNsWire
internal import FoundationEssentials
internal import Grandstand

/// A shell command for an action that the console only explains.
struct Command: Sendable, Equatable {
    /// What the command does.
    let what: String
    /// The command line, quoted for a POSIX shell.
    let line: String

    init(_ what: String, _ words: [String]) {
        self.what = what
        line = (["grandstand"] + words).map(Self.quoted).joined(separator: " ")
    }

    static func quota() -> Command { Command("Show the quotas", ["quota"]) }

    static func doctor(_ bundleID: BundleID) -> Command {
        Command("Check keys, capability and the connection to Apple", ["doctor", "--app", bundleID.rawValue])
    }

    static func reconcile(_ app: AppEnvironment, _ doing: Reconciling) -> Command {
        Command(doing.label, ["reconcile", app.bundleID.rawValue, app.environment.rawValue] + doing.flags)
    }

    /// A word quoted for a POSIX shell. Text with control characters is replaced by `…`, and a person has to fill in
    /// the text.
    static func quoted(_ word: String) -> String {
        guard word.unicodeScalars.allSatisfy({ !HTMLText.isDeceptive($0) }) else { return "'…'" }
        let plain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._:/@+=,".utf8.contains(byte)
            }
        }
        if plain, !word.isEmpty { return word }
        return "'" + word.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }
}
