internal import APNsWire
package import FoundationEssentials
package import GrandstandContract

/// The result of reopening an event.
package struct Reopening: Sendable, Hashable {
    /// The result for one audience.
    package struct Part: Sendable, Hashable {
        /// What happens to the audience's channel.
        package enum Outcome: String, Sendable, Hashable, CaseIterable {
            /// The channel is kept, with all its followers.
            case kept
            /// A new channel is created, because there was none or it is gone.
            case new
            /// There is no channel: the audience is reached by tokens.
            case none
        }

        package var audience: Audience.ID
        package var outcome: Outcome
        /// Apple's ID of the channel that was lost.
        package var lostChannelID: String?
        /// Whether APNs may have forwarded an `end` to devices.
        package var mayHaveEnded: Bool
        /// Whether the app has no place for the new channel now.
        package var lacksPlace: Bool

        package init(
            audience: Audience.ID, outcome: Outcome, lostChannelID: String? = nil, mayHaveEnded: Bool = false,
            lacksPlace: Bool = false
        ) {
            self.lacksPlace = lacksPlace
            self.audience = audience
            self.outcome = outcome
            self.lostChannelID = lostChannelID
            self.mayHaveEnded = mayHaveEnded
        }
    }

    package var event: Contract.Event
    /// The reopened audiences, in the event's order. Of an event that was not over, only those that had an `end`.
    package var parts: [Part]
    /// The broadcasts that reopening sends, in order of acceptance. Some repeat the newest content, so that APNs no
    /// longer stores the `end`. Others had been stopped by the `end` and are sent now.
    package var broadcasts: [UUID]
    /// Who gets a card and who gets none; empty: nobody has got one yet.
    package var outlook: [String]

    package init(event: Contract.Event, parts: [Part], broadcasts: [UUID] = [], outlook: [String] = []) {
        self.event = event
        self.parts = parts
        self.broadcasts = broadcasts
        self.outlook = outlook
    }

    /// Warnings about what cannot be undone.
    package var warnings: [String] {
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
