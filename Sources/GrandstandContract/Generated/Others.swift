// Generated from openapi.yaml by `make contract`. Do not edit.

package import JSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Contract {
    /// The server-sent event snapshot. An event's state and its 20 newest broadcasts.
    public struct LiveBoard: Sendable, Hashable, Codable, ContractObject {
        /// The organiser's name for an event. It is unique on this server.
        public var eventKey: String
        /// The state of an event.
        public var state: EventState
        /// The newest first.
        public var broadcasts: [BroadcastSummary]

        /// Members that are `nil` are left out.
        public init(eventKey: String, state: EventState, broadcasts: [BroadcastSummary]) {
            self.eventKey = eventKey
            self.state = state
            self.broadcasts = broadcasts
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            eventKey = try object.required("eventKey")
            state = try object.required("state")
            broadcasts = try object.required("broadcasts")
        }

        package func write(members object: inout JSONWriter) {
            object.member("eventKey", eventKey)
            object.member("state", state.rawValue)
            object.member("broadcasts", broadcasts)
        }
    }
}

extension Contract {
    /// The server-sent event broadcast. A broadcast that is new or has changed.
    public struct BroadcastSummary: Sendable, Hashable, Codable, ContractObject {
        /// The broadcast.
        public var id: String
        /// What a broadcast does to the Live Activities that get it. Apple starts no activity by a broadcast.
        public var event: BroadcastKind
        /// The state of a broadcast, from all of its deliveries.
        public var state: BroadcastState
        /// When it was accepted.
        public var acceptedAt: Date
        /// When it is or was sent, if not at once.
        public var sendAt: Date?
        /// How many deliveries are in each state.
        public var counts: [String: Int]

        /// Members that are `nil` are left out.
        public init(
            id: String, event: BroadcastKind, state: BroadcastState, acceptedAt: Date, sendAt: Date? = nil,
            counts: [String: Int]
        ) {
            self.id = id
            self.event = event
            self.state = state
            self.acceptedAt = acceptedAt
            self.sendAt = sendAt
            self.counts = counts
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            id = try object.required("id")
            event = try object.required("event")
            state = try object.required("state")
            acceptedAt = try object.required("acceptedAt")
            sendAt = try object.optional("sendAt")
            counts = try object.required("counts")
        }

        package func write(members object: inout JSONWriter) {
            object.member("id", id)
            object.member("event", event.rawValue)
            object.member("state", state.rawValue)
            object.member("acceptedAt", acceptedAt)
            if let sendAt { object.member("sendAt", sendAt) }
            object.member("counts", counts)
        }
    }
}

extension Contract {
    /// The server-sent event state. The event's own state has changed.
    public struct EventStateChange: Sendable, Hashable, Codable, ContractObject {
        /// The state of an event.
        public var state: EventState

        /// Members that are `nil` are left out.
        public init(state: EventState) {
            self.state = state
        }

        /// Decodes the JSON of the API.
        public init(from decoder: any Decoder) throws { try self.init(json: RawJSON(from: decoder).value) }

        /// Encodes the JSON of the API.
        public func encode(to encoder: any Encoder) throws { try RawJSON(writing: self).encode(to: encoder) }

        package init(members object: JSONMembers) throws {
            state = try object.required("state")
        }

        package func write(members object: inout JSONWriter) {
            object.member("state", state.rawValue)
        }
    }
}
