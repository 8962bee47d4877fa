internal import Foundation
internal import GrandstandClient
internal import GrandstandServer

/// The source of a calendar: a file, a URL, or standard input.
struct SeasonSource {
    let name: String

    /// The most seconds for the whole answer.
    private static let timeout: TimeInterval = 60

    /// The calendar's bytes. Reading stops when there are more bytes than a calendar may have; the parser then refuses
    /// them.
    ///
    /// - Throws: `StartError` with the reason why the calendar cannot be read.
    func read() async throws -> [UInt8] {
        if name == "-" { return try Self.read(.standardInput, name) }
        if name.contains("://"), let url = URL(string: name) {
            let scheme = url.scheme?.lowercased()
            guard scheme == "https" || scheme == "http" && Self.isLoopback(url) else {
                throw StartError(
                    "\(name): only https URLs are allowed, so that nobody can change the calendar on its way")
            }
            return try await fetch(url)
        }
        guard let file = FileHandle(forReadingAtPath: name) else {
            throw StartError("the file \(name) cannot be read")
        }
        return try Self.read(file, name)
    }

    private static let most = CalendarLimits.bytes + 1

    private static func read(_ file: FileHandle, _ name: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while bytes.count < most, let piece = try file.read(upToCount: most - bytes.count), !piece.isEmpty {
                bytes += piece
            }
        } catch {
            throw StartError("the file \(name) cannot be read")
        }
        return bytes
    }

    private static func isLoopback(_ url: URL) -> Bool { ["127.0.0.1", "localhost", "::1"].contains(url.host() ?? "") }

    private func fetch(_ url: URL) async throws -> [UInt8] {
        do {
            return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                group.addTask { try await Self.answer(url) }
                group.addTask {
                    try await Task.sleep(for: .seconds(Self.timeout))
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let bytes = first else {
                    throw StartError("\(name): no whole answer within \(Int(Self.timeout)) seconds")
                }
                return bytes
            }
        } catch let error as URLError {
            throw StartError("\(name): \(error.localizedDescription)")
        }
    }

    private static func answer(_ url: URL) async throws -> [UInt8] {
        let request = GrandstandClient.Request(
            method: "GET", url: url, headers: ["Accept": "text/calendar, text/csv, */*;q=0.1"], timeout: timeout)
        let answer = try await URLSessionTransport(longestAnswer: timeout, largestAnswer: most).open(request)
        guard answer.status == 200 else {
            let target = answer.headers["location"].map { "; it redirects to \($0), use that address" } ?? ""
            throw StartError("\(url.absoluteString): HTTP \(answer.status)\(target)")
        }
        return Array(answer.body)
    }
}
