internal import Foundation
internal import GrandstandClient
internal import GrandstandServer

/// The text of a calendar. The source is a file, a URL, or `-` for standard input.
///
/// - Throws: `StartError` with the reason why the calendar cannot be read.
func calendar(from source: String) async throws -> [UInt8] {
    guard source.contains("://"), let url = URL(string: source) else {
        return try content(of: source == "-" ? source : "@" + source)
    }
    let isLocal = ["127.0.0.1", "localhost", "::1"].contains(url.host() ?? "")
    guard ["https", isLocal ? "http" : "https"].contains(url.scheme?.lowercased()) else {
        throw StartError("\(source): only https URLs are allowed, so that nobody can change the calendar on its way")
    }
    let accepted = ["Accept": "text/calendar, text/csv, */*;q=0.1"]
    let request = GrandstandClient.Request(method: "GET", url: url, headers: accepted, timeout: 60)
    // The reader refuses a calendar that is longer.
    let transport = URLSessionTransport(longestAnswer: 60, largestAnswer: CalendarLimits.bytes + 1)
    do {
        let answer = try await transport.open(request)
        guard answer.status == 200 else {
            let target = answer.headers["location"].map { "; it redirects to \($0), use that address" } ?? ""
            throw StartError("\(source): HTTP \(answer.status)\(target)")
        }
        return Array(answer.body)
    } catch let error as URLError {
        throw StartError("\(source): \(error.localizedDescription)")
    }
}
