internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// Swift enums, PostgreSQL types and the diagrams in the documentation have the same values. They are compared in both
/// directions.
struct VocabularyTests {
    @Test func `every Postgres enum has the cases of its Swift enum in the same order`() async throws {
        func words<Word: CaseIterable & RawRepresentable<String>>(_ type: Word.Type) -> [String] {
            type.allCases.map(\.rawValue)
        }
        let vocabularies = [
            "channel_state": words(Channel.State.self), "delivery_state": words(Contract.DeliveryState.self),
            "environment": words(APNsEnvironment.self), "storage_policy": words(StoragePolicy.self),
            "audit_action": words(Contract.AuditAction.self),
            "reconciliation_alarm": words(Contract.ReconciliationAlarm.self), "key_scope": words(Contract.Scope.self),
            // A start is a message to a device, never a broadcast.
            "broadcast_event": words(BroadcastPayload.Event.self).filter { $0 != "start" },
            "webhook_topic": words(Contract.WebhookMessageType.self),
            "activity_state": words(Contract.ActivityState.self),
            "audience_delivery": words(Contract.AudienceDelivery.self),
            "state_outcome": words(Contract.StateOutcome.self), "start_state": words(StartRowState.self),
            "webhook_state": ["enabled", "disabled"],
            "webhook_delivery_state": words(Contract.WebhookDeliveryState.self),
        ]
        try await withDatabase { test in
            let rows = try await test.pool.query(
                """
                select t.typname::text as name, array_agg(e.enumlabel::text order by e.enumsortorder) as words
                from pg_enum e join pg_type t on t.oid = e.enumtypid group by t.typname
                """)
            let inDatabase = try Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    (try row.decode(String.self, "name"), try row.decode([String].self, "words"))
                })
            #expect(inDatabase == vocabularies)
        }
    }

    /// Expects that a rule of the database names exactly these states.
    private func expect<State: CaseIterable & RawRepresentable<String>>(
        _ rule: PostgresQuery, names isNamed: (State) -> Bool
    ) async throws {
        try await withDatabase { test in
            let text: String = try #require(try await test.pool.query(rule).first).decode("rule")
            for state in State.allCases {
                #expect(text.contains("'\(state.rawValue)'") == isNamed(state), "\(state)")
            }
        }
    }

    @Test func `the states that serve an audience, and the unsettled ones, are the same in SQL and in Swift`()
        async throws
    {
        try await expect(
            """
            select pg_get_expr(indpred, indrelid) as rule from pg_index
            where indexrelid = 'channels_one_per_audience'::regclass
            """
        ) { (state: Channel.State) in Set.servesAudience.contains(state) }
        try await expect(
            """
            select pg_get_constraintdef(oid) as rule from pg_constraint
            where conrelid = 'deliveries'::regclass and pg_get_constraintdef(oid) like '%settled_at IS NULL%'
            """
        ) { (state: Contract.DeliveryState) in !state.isSettled }
    }

    @Test func `the diagrams show every state, and every change of a channel's state`() throws {
        let text = try Self.text("docs/internals/states.md")
        let drawings = text.split(separator: "```mermaid").dropFirst().map { part in
            part.prefix { $0 != "`" }.split(separator: "\n").compactMap(arrow)
        }
        // The other diagrams are not compared.
        let drawn: [Set<String>] = drawings.prefix(2).map { Set($0.joined().filter { !$0.isEmpty }) }
        let states = [Channel.State.allCases.map(\.rawValue), Contract.DeliveryState.allCases.map(\.rawValue)]
        #expect(drawn == states.map(Set.init))
        let changes = Channel.State.allCases.flatMap { state in state.next.map { [state.rawValue, $0.rawValue] } }
        #expect(Set(drawings[0].filter { !$0.contains("") }) == Set(changes))
    }

    /// The states at both ends of a line such as `active --> retiring: event over`; an end that is no state is empty.
    private func arrow(_ line: Substring) -> [String]? {
        let ends = (line.split(separator: ":").first ?? "").split(separator: "-->")
        return ends.count == 2 ? ends.map { String($0.filter(\.isLetter)) } : nil
    }

    @Test func `only one file has statements that write the state of channels`() throws {
        let sources = "Sources/GrandstandServer"
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.root + sources)
        let files = names.filter { $0.hasSuffix(".swift") && $0 != "Channels/Channel+move.swift" }
        #expect(files.count > 100)
        for file in files {
            let text = try Self.text(sources + "/" + file)
            #expect(!text.contains("into channels"), "\(file)")
            for update in text.split(separator: "update channels").dropFirst() {
                let assignments = update.prefix(upTo: update.firstRange(of: "where ")?.lowerBound ?? update.endIndex)
                #expect(!assignments.contains(/\bstate =/), "\(file): \(assignments)")
            }
        }
    }

    private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/"

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: root + path)), as: UTF8.self)
    }
}
