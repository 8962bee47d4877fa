internal import ArgumentParser
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import JSON

#if canImport(Darwin)
    private import Darwin
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#endif

/// The day to rehearse, and the events that are declared for it.
struct RehearsalDay: Sendable {
    let text: String
    /// The zone's name as it was typed. It is kept because Foundation calls UTC GMT.
    let zone: String
    let timeZone: TimeZone
    let range: Range<Date>

    /// - Throws: `ValidationError` for text that is not a day or a time zone.
    init(_ text: String, in zone: String) throws {
        guard let timeZone = TimeZone(identifier: zone) else {
            throw ValidationError("--time-zone \(zone): a name such as Europe/Vienna was expected.")
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard text.count == 10, numbers.count == 3, let year = numbers[0], let month = numbers[1], let day = numbers[2],
            let from = calendar.date(from: DateComponents(year: year, month: month, day: day)),
            calendar.component(.day, from: from) == day, calendar.component(.month, from: from) == month,
            let to = calendar.date(byAdding: .day, value: 1, to: from)
        else { throw ValidationError("--day \(text) is not a day: write it as 2026-11-28.") }
        self.text = text
        self.zone = zone
        self.timeZone = timeZone
        range = from..<to
    }

    /// The events to play, and the other scheduled or live events, whose channels may count toward the apps' channel
    /// limits.
    ///
    /// - Parameter patterns: keys or globs; empty: all events of the day.
    /// - Throws: `StartError` if there is nothing to play.
    func events(
        of source: RehearsalSource, matching patterns: [String]
    ) async throws -> (played: [DeclaredEvent], others: [DeclaredEvent]) {
        let onTheDay = try await source.events(.init(from: range.lowerBound, to: range.upperBound))
            .filter { $0.state != Event.State.cancelled.rawValue }
        let standing =
            try await source.events(.init(state: .scheduled)) + (try await source.events(.init(state: .live)))
        guard !onTheDay.isEmpty else { throw StartError(nothing(beside: standing)) }
        for pattern in patterns where !onTheDay.contains(where: { Self.matches($0.event.key, pattern) }) {
            let keys = onTheDay.prefix(5).map(\.event.key).joined(separator: ", ")
            throw StartError("--events \(pattern): no event of \(text) has such a key; there are \(keys)")
        }
        let played = onTheDay.filter { declared in
            patterns.isEmpty || patterns.contains { Self.matches(declared.event.key, $0) }
        }
        let keys = Set(played.map(\.event.key))
        return (played, standing.filter { !keys.contains($0.event.key) })
    }

    private func nothing(beside standing: [DeclaredEvent]) -> String {
        let nearest = standing.compactMap(\.event.startsAt).min {
            abs($0.timeIntervalSince(range.lowerBound)) < abs($1.timeIntervalSince(range.lowerBound))
        }
        let advice = nearest.map { "the nearest one starts at \(RFC3339.text($0)): try another --day or --time-zone" }
        return "no event starts on \(text) (\(zone)); "
            + (advice ?? "declare some first, with `grandstand event put`")
    }

    private static func matches(_ key: String, _ pattern: String) -> Bool { fnmatch(pattern, key, 0) == 0 }
}
