internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/console/style.css`: for anybody, the sign-in page has it too.
struct StyleRoute: Sendable {
    func add(to router: Router<ConsoleContext>) {
        router.get(RouterPath(ConsolePath.style)) { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/css; charset=utf-8", .cacheControl: "public, max-age=300"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.style_css)))
        }
    }
}
