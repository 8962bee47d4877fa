internal import Grandstand

/// One sentence for the next page, in a cookie. The sentence is authenticated, so that nobody else can make the console
/// show a text.
enum Notice {
    static func value(_ text: String, for session: SessionSecret) -> String {
        let bytes = Array(text.prefix(500).utf8)
        return Base64URL.text(bytes) + "." + Base64URL.text(session.tag(bytes, .notice))
    }

    static func text(_ value: String, for session: SessionSecret) -> String? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64URL.bytes(parts[0]), let tag = Base64URL.bytes(parts[1]),
            session.isTag(tag, of: bytes, .notice)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
