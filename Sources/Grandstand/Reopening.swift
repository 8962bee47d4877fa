internal import APNsWire
package import FoundationEssentials

/// The result of opening an event again.
package struct Reopening: Sendable, Hashable {
    /// One of its audiences.
    package struct Part: Sendable, Hashable {
        /// The fate of its channel.
        package enum Outcome: String, Sendable, Hashable, CaseIterable {
            /// It has the one it had, with everybody who follows it.
            case kept
            /// It gets one: its own was never made, or is gone.
            case new
            /// It is reached by tokens.
            case none
        }

        package var audience: Audience.ID
        package var outcome: Outcome
        /// Apple's ID of the channel that is gone.
        package var lostChannelID: String?
        /// APNs may have passed an `end` on.
        package var mayHaveEnded: Bool

        package init(
            audience: Audience.ID, outcome: Outcome, lostChannelID: String? = nil, mayHaveEnded: Bool = false
        ) {
            self.audience = audience
            self.outcome = outcome
            self.lostChannelID = lostChannelID
            self.mayHaveEnded = mayHaveEnded
        }
    }

    package var event: Event
    /// Those that were opened again, in the event's order.
    package var parts: [Part]
    /// The broadcasts that it sends, in order of acceptance: those with the newest content, which take an end's place in
    /// APNs' store, and those that go after all because the end does not.
    package var broadcasts: [UUID]

    package init(event: Event, parts: [Part], broadcasts: [UUID] = []) {
        self.event = event
        self.parts = parts
        self.broadcasts = broadcasts
    }

    /// Warnings about what cannot be taken back.
    package var warnings: [String] {
        parts.flatMap { part in
            let app = part.audience.words
            var warnings: [String] = []
            if let lost = part.lostChannelID {
                warnings.append(
                    "The channel \(lost) of \(app) is gone, and its followers are lost. Another is made; lookups of the "
                        + "event find that.")
            }
            if part.mayHaveEnded {
                warnings.append(
                    "APNs took an end for \(app), or may have. An activity that got it is over: Apple lets nobody bring it back. "
                        + "The others go on.")
            }
            return warnings
        }
    }
}
