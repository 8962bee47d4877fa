internal import Foundation
internal import GrandstandClient
internal import Testing

/// The client says what openapi.yaml says: every operation has a call, every field is in the types.
struct ContractTests {
    private typealias Client = GrandstandClient

    /// The type of each schema; what is a word, a text or a map stands in its user's type.
    private static var types: [String: any Codable.Type] {
        [
            "Problem": ServerProblem.self, "FieldError": ServerProblem.FieldFault.self,
            "APNsRefusal": ServerProblem.APNsRefusal.self, "AppDraft": Client.AppDraft.self,
            "Overrides": Client.Overrides.self, "Override": Client.Override.self, "App": Client.App.self,
            "AppName": Client.AppName.self, "Quirk": Client.Quirk.self,

            "Channel": Client.Channel.self, "Verification": Client.Verification.self, "Audience": Client.Audience.self,
            "AudienceSelector": Client.AudienceSelector.self, "CalendarPage": Client.Page<Client.Calendar>.self,
            "CalendarSync": Client.CalendarSync.self,
            "CalendarReport": Client.CalendarReport.self, "CalendarEvent": Client.CalendarEvent.self,
            "CalendarProblem": Client.CalendarProblem.self, "CalendarForecast": Client.CalendarForecast.self,
            "AppForecast": Client.AppForecast.self, "CalendarShrunk": Client.CalendarShrunk.self,
            "EventDraft": Client.EventDraft.self, "EventPatch": RawJSON.self,
            "EventDefaults": Client.EventDefaults.self,
            "Topics": [String].self, "StartDraft": Client.StartDraft.self,
            "StartCounts": Client.StartCounts.self,
            "StartReport": Client.StartReport.self, "AudienceStart": Client.AudienceStart.self,
            "TopicPage": Client.Page<Client.FollowedTopic>.self, "Event": Client.Event.self,
            "ReopenedEvent": Client.ReopenedEvent.self, "EventAudience": Client.EventAudience.self,
            "AudienceChannel": Client.AudienceChannel.self, "Lookup": Client.Lookup.self,
            "FollowablePage": Client.Page<Client.Followable>.self, "Followable": Client.Followable.self,
            "LookupBatchAnswer": Client.LookupBatchAnswer.self,
            "LocalizedText": Client.LocalizedText.self, "Alert": Client.Alert.self,
            "BroadcastDraft": Client.BroadcastDraft.self, "ByVariant": [String: Client.VariantContent].self,
            "PushDraft": Client.PushDraft.self, "BroadcastItem": Client.BroadcastItem.self,
            "BroadcastBatchResult": Client.BroadcastBatchResult.self,
            "Broadcast": Client.Broadcast.self, "Delivery": Client.Delivery.self, "Push": Client.Push.self,
            "PushDelivery": Client.PushDelivery.self, "TokenCounts": Client.TokenCounts.self,
            "Quota": Client.Quota.self,
            "TokensRefused": Client.TokensRefused.self, "AppleCount": Client.AppleCount.self,
            "Forecast": Client.Forecast.self,
            "Reconciliation": Client.Reconciliation.self, "AuditEntry": Client.AuditEntry.self,
            "Key": Client.Key.self,
            "IssuedKey": Client.IssuedKey.self, "InstallationDraft": Client.InstallationDraft.self,
            "StartTokenDraft": Client.StartTokenDraft.self, "Registered": Client.Registered.self,
            "Installation": Client.Installation.self, "ActivityDraft": Client.ActivityDraft.self,
            "Activity": Client.Activity.self,
            "RecordedReceipts": Client.RecordedReceipts.self,
            "InstallationStatistics": Client.InstallationStatistics.self,
            "RegisteredTokens": Client.RegisteredTokens.self, "EventReceipts": Client.EventReceipts.self,
            "MessageReceipts": Client.MessageReceipts.self, "WebhookDraft": Client.WebhookDraft.self,
            "Webhook": Client.Webhook.self,
            "IssuedWebhook": Client.IssuedWebhook.self, "WebhookDelivery": Client.WebhookDelivery.self,
            "WebhookDeliveryLog": Client.WebhookDeliveryLog.self, "WebhookAttempt": Client.WebhookAttempt.self,
            "WebhookMessage": Client.WebhookMessage.self, "WebhookPage": Client.Page<Client.Webhook>.self,
            "WebhookDeliveryPage": Client.Page<Client.WebhookDelivery>.self, "Health": Client.Health.self,
            "Readiness": Client.Readiness.self, "APNsState": Client.APNsState.self,
            "AppPage": Client.Page<Client.App>.self, "AppNamePage": Client.Page<Client.AppName>.self,
            "ChannelPage": Client.Page<Client.Channel>.self, "EventPage": Client.Page<Client.Event>.self,
            "BroadcastPage": Client.Page<Client.Broadcast>.self, "QuotaPage": Client.Page<Client.Quota>.self,
            "ReconciliationPage": Client.Page<Client.Reconciliation>.self,
            "AuditPage": Client.Page<Client.AuditEntry>.self, "KeyPage": Client.Page<Client.Key>.self,
            "AppPreview": Client.AppPreview.self, "BroadcastPreview": Client.BroadcastPreview.self,
            "AudiencePreview": Client.AudiencePreview.self, "QuotaHistory": Client.QuotaHistory.self,
            "QuotaSample": Client.QuotaSample.self,
            "CalendarDraft": Client.CalendarDraft.self, "Calendar": Client.Calendar.self,
            "Start": Client.StartDraft.self,
        ]
    }

    /// Small bodies, whose members are a call's parameters.
    private static let parameters: Set = [
        "QuirkDraft", "ChannelDraft", "ChannelImport", "ReopenOrder", "StartOrder", "LookupBatch", "BroadcastBatch",
        "ReconciliationDraft", "KeyDraft", "RotationDraft", "ReceiptBatch", "WebhookRotation",
    ]

    @Test func `every field of every schema is read and written`() throws {
        let api = try OpenAPI()
        #expect(api.schemas.count > 80)
        for (name, schema) in api.schemas
        where schema["enum"] == nil && schema["type"]?.string != "string" && !Self.parameters.contains(name) {
            guard let type = Self.types[name] else {
                Issue.record("\(name): the client has no type for this schema")
                continue
            }
            for isFull in [true, false] {
                let sample = Self.sample(of: name, schema, in: api, isFull: isFull)
                if sample == .null { continue }
                do {
                    #expect(
                        try Self.again(type, sample).said == sample.said,
                        "\(name): a field is lost, or is written another way")
                } catch {
                    Issue.record("\(name), \(isFull ? "with every field" : "with required fields only"): \(error)")
                }
            }
        }
    }

    /// A calendar's audiences, start and defaults are "as of an event", which the schema says in words only.
    private static func sample(of name: String, _ schema: YAML, in api: OpenAPI, isFull: Bool) -> JSONTree {
        func fill(_ sample: JSONTree) -> JSONTree {
            guard case .object(var members) = sample, members["eventKey"] != nil, members["format"] != nil else {
                return sample
            }
            let parts = [("audiences", "Audience"), ("start", "StartDraft"), ("defaults", "EventDefaults")]
            for (member, schema) in parts where members[member].map({ $0 != .null }) ?? false {
                let part = api.schema(schema).map { JSONTree(of: $0, in: api, isFull: isFull) } ?? .null
                members[member] = member == "audiences" ? .array([part]) : part
            }
            return .object(members)
        }
        let sample = JSONTree(of: schema, in: api, isFull: isFull)
        guard name == "CalendarPage", case .object(var members) = sample, case .array(let items) = members["items"]
        else { return fill(sample) }
        members["items"] = .array(items.map(fill))
        return .object(members)
    }

    /// What is left of a sample once its type has read and written it.
    private static func again<Value: Codable>(_ type: Value.Type, _ sample: JSONTree) throws -> JSONTree {
        let value = try ClientJSON.read(type, try JSONEncoder().encode(sample))
        return try JSONDecoder().decode(JSONTree.self, from: try ClientJSON.write(value))
    }

    @Test func `every kind of problem has its case`() throws {
        let types = try #require(try OpenAPI().schema("Problem")?["properties"]?["type"]?["enum"]?.strings)
        #expect(Set(types.map(OpenAPI.last)) == Set(ServerProblem.Kind.allCases.map(\.rawValue)).subtracting([""]))
    }

    @Test func `every operation has a call`() async throws {
        let api = try OpenAPI()
        #expect(api.operations.count > 60)
        let table = try await CallTable()
        #expect(Set(table.entries.map(\.operationId)) == Set(api.operations.map(\.operationId)))
        for operation in api.operations {
            let calls = table.entries.filter { $0.operationId == operation.operationId }
            for call in calls {
                let name = operation.operationId
                #expect(call.method == operation.method, "\(name)")
                #expect(call.path == operation.sample, "\(name)")
                #expect(call.query == operation.query, "\(name)")
                #expect((call.request.body != nil) == operation.hasBody, "\(name)")
                if let schema = operation.body, Self.parameters.contains(schema) {
                    let said = try JSONDecoder().decode([String: JSONTree].self, from: call.request.body ?? Data())
                    let members = api.schema(schema)?["properties"]?.members.map(\.name) ?? []
                    #expect(Set(said.keys) == Set(members), "\(name)")
                }
                for header in ["Idempotency-Key", "Grandstand-Installation-Secret"] {
                    #expect(
                        (call.request.headers[header] != nil) == operation.headers.contains(header),
                        "\(name): \(header)")
                }
            }
            let answers = Set(calls.map { "\($0.value)" })
            let expected = operation.answers.map { Self.types[$0].map { "\($0)" } ?? $0 }
            #expect(
                expected.isEmpty ? answers.isSubset(of: ["()", "String"]) : answers == Set(expected),
                "\(operation.operationId)")
        }
    }
}
