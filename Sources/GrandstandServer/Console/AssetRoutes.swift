internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/console/style.css` and `/console/console.js`. These files need no session, because the sign-in page uses them.
struct AssetRoutes: Sendable {
    func add(to router: Router<ConsoleContext>) {
        for (path, type, file) in [
            (ConsolePath.style, "text/css; charset=utf-8", "style.css"),
            (ConsolePath.script, "text/javascript; charset=utf-8", "console.js"),
        ] {
            let text = ByteBuffer(string: EmbeddedFiles.texts[file] ?? "")
            router.get(RouterPath(path)) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: type, .cacheControl: "public, max-age=300"],
                    body: ResponseBody(byteBuffer: text))
            }
        }
    }
}
