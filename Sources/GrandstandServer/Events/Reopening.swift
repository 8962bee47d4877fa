internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The result of reopening an event.
struct Reopening: Sendable, Hashable {
    /// The result for one audience.
    struct Part: Sendable, Hashable {
        /// What happens to the audience's channel.
        enum Outcome: String, Sendable, Hashable, CaseIterable {
            /// The channel is kept, with all its followers.
            case kept
            /// A new channel is created, because there was none or it is gone.
            case new
            /// There is no channel: the audience is reached by tokens.
            case none
        }

        var audience: Audience.ID
        var outcome: Outcome
        /// Apple's ID of the channel that was lost.
        var lostChannelID: String?
        /// Whether APNs may have forwarded an `end` to devices.
        var mayHaveEnded: Bool = false
        /// Whether the app has no place for the new channel now.
        var lacksPlace: Bool = false
    }

    var event: Contract.Event
    /// The reopened audiences, in the event's order. Of an event that was not over, only those that had an `end`.
    var parts: [Part]
    /// The broadcasts that reopening sends, in order of acceptance. Some repeat the newest content, so that APNs no
    /// longer stores the `end`. Others had been stopped by the `end` and are sent now.
    var broadcasts: [UUID] = []
    /// Who gets a card and who gets none; empty: nobody has got one yet.
    var outlook: [String] = []

    /// Warnings about what cannot be undone.
    var warnings: [String] {
        parts.flatMap { part -> [String] in
            let app = part.audience.words
            var warnings: [String] = []
            if let lost = part.lostChannelID {
                warnings.append(
                    "The channel \(lost) of \(app) was deleted, and its followers are lost."
                        + (part.lacksPlace ? "" : " A new channel is created; lookups of the event return it."))
            }
            if part.lacksPlace {
                warnings.append(
                    "There is no place for a new channel of \(app) now: the app has as many channels as its limit or Apple "
                        + "allows. It is created when a place is free. GET /v1/quotas shows which channels use the places."
                )
            }
            if part.mayHaveEnded {
                warnings.append(
                    "APNs accepted an end for \(app), or may have accepted it. An activity that received it cannot be "
                        + "restored. The others continue.")
            }
            return warnings
        } + outlook
    }
}
