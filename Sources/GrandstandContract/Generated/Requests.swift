// Generated from openapi.yaml by `make contract`. Do not edit.

extension Contract.Override: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("teamId", .text(.teamId)), .init("keyId", .text(.keyId))], excluding: [])
}

extension Contract.Overrides: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("development", Contract.Override.shape), .init("production", Contract.Override.shape)], excluding: [])
}

extension Contract.AppPreview: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("compact", .text(.previewTemplate)), .init("expanded", .text(.previewTemplate))], excluding: [])
}

extension Contract.AppDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("name", isRequired: true, .text(.name)), .init("teamId", isRequired: true, .text(.teamId)),
            .init("keyId", isRequired: true, .text(.keyId)), .init("channelLimit", .integer(1...10_000)),
            .init("environments", Contract.Overrides.shape), .init("preview", Contract.AppPreview.shape),
        ], excluding: [])
}

extension Contract.ContentVersion: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("name", isRequired: true, .text(TextRule(1...64, isPrintable: true))),
            .init("schema", isRequired: true, .raw),
        ], excluding: [])
}

extension Contract.RingCondition: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("increases", .text(.jSONPointer)), .init("decreases", .text(.jSONPointer)),
            .init("changes", .text(.jSONPointer)), .init("becomes", .text(.jSONPointer)),
            .init("appears", .text(.jSONPointer)), .init("value", .any),
        ], excluding: [])
}

extension Contract.LocalizedKey: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("loc-key", isRequired: true, .text(TextRule(1...1_000, isPrintable: true))),
            .init("loc-args", .array(.text(TextRule()), 0...64, isUnique: false)),
        ], excluding: [])
}

extension Contract.Alert: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("title", .objectOr(Contract.LocalizedKey.shape, .text(TextRule()))),
            .init("body", .objectOr(Contract.LocalizedKey.shape, .text(TextRule()))),
            .init("sound", .text(TextRule(1...200, isPrintable: true))),
        ], excluding: [])
}

extension Contract.RingRule: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("when", isRequired: true, Contract.RingCondition.shape),
            .init("alert", isRequired: true, Contract.Alert.shape),
            .init("alertsByLocale", .map(.languageTag, Contract.Alert.shape)),
        ], excluding: [])
}

extension Contract.StateRules: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("quiet", .array(.text(.jSONPointer), 0...100, isUnique: false)),
            .init("quietInterval", .integer(1...3_600)),
            .init("rings", .array(Contract.RingRule.shape, 0...100, isUnique: false)),
        ], excluding: [])
}

extension Contract.ContentTypeDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("check", .words(Contract.ContentCheck.allCases.map(\.rawValue))),
            .init("versions", isRequired: true, .array(Contract.ContentVersion.shape, 1...20, isUnique: false)),
            .init("rules", Contract.StateRules.shape),
        ], excluding: [])
}

extension Contract.ChannelDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("storagePolicy", isRequired: true, .words(Contract.StoragePolicy.allCases.map(\.rawValue))),
            .init("label", .text(.name)),
        ], excluding: [])
}

extension Contract.ChannelImport: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("channelId", isRequired: true, .text(.channelId)), .init("label", .text(.name)),
            .init("eventKey", .text(.eventKey)), .init("variant", .text(.variant)),
        ], excluding: [])
}

extension Contract.VariantContent: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("contentState", .raw), .init("alert", Contract.Alert.shape)], excluding: [])
}

extension Contract.AudienceSelector: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("bundleId", isRequired: true, .text(.bundleId)),
            .init("environment", isRequired: true, .words(Contract.Environment.allCases.map(\.rawValue))),
            .init("variant", .text(.variant)),
        ], excluding: [])
}

extension Contract.AfterStart: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("afterStart", isRequired: true, .integer(-31_536_000...31_536_000))], excluding: [])
}

extension Contract.BroadcastDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("event", isRequired: true, .words(Contract.BroadcastKind.allCases.map(\.rawValue))),
            .init("contentState", .raw), .init("alert", Contract.Alert.shape),
            .init("byVariant", .map(.variant, Contract.VariantContent.shape)),
            .init("audiences", .array(Contract.AudienceSelector.shape, 1...1_000, isUnique: false)),
            .init("priority", .numbers([1, 5, 10])), .init("expiresIn", .integer(1...28_800)),
            .init("apnsExpiration", .integer(0...4_294_967_294)), .init("staleDate", .time),
            .init("dismissalDate", .time), .init("relevanceScore", .number),
            .init("sendAt", .objectOr(Contract.AfterStart.shape, .time)),
        ], excluding: [.init("expiresIn", "apnsExpiration")])
}

extension Contract.ReconciliationDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("apply", .flag), .init("adopt", .flag), .init("deleteUnmanaged", .flag), .init("recreate", .flag)],
        excluding: [])
}

extension Contract.Audience: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("bundleId", isRequired: true, .text(.bundleId)),
            .init("environment", isRequired: true, .words(Contract.Environment.allCases.map(\.rawValue))),
            .init("variant", .text(.variant)),
            .init("storagePolicy", isRequired: true, .words(Contract.StoragePolicy.allCases.map(\.rawValue))),
            .init("delivery", .words(Contract.AudienceDelivery.allCases.map(\.rawValue))),
            .init("priority", .numbers([1, 5, 10])), .init("content", .text(.attributesType)),
        ], excluding: [])
}

extension Contract.StartDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("at", .time), .init("until", .time),
            .init("attributesType", isRequired: true, .text(.attributesType)),
            .init("attributes", isRequired: true, .raw), .init("contentState", .raw),
            .init("alert", isRequired: true, Contract.Alert.shape),
            .init("alertsByLocale", .map(.languageTag, Contract.Alert.shape)), .init("staleDate", .time),
            .init("expiresIn", .integer(1...28_800)),
            .init("audiences", .array(Contract.AudienceSelector.shape, 1...1_000, isUnique: false)),
            .init("restart", .flag),
        ], excluding: [])
}

extension Contract.EventDefaults: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("priority", .numbers([1, 5, 10])), .init("staleAfter", .integer(1...43_200)),
            .init("expiresIn", .integer(1...28_800)), .init("relevanceScore", .number),
        ], excluding: [])
}

extension Contract.EventDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("name", isRequired: true, .text(.name)), .init("kind", .text(.eventSort)), .init("startsAt", .time),
            .init("endsAt", .time), .init("channelsOpenAt", .time),
            .init("channelsOpenBefore", .integer(0...31_536_000)),
            .init("audiences", isRequired: true, .array(Contract.Audience.shape, 1...1_000, isUnique: false)),
            .init("metadata", .raw), .init("topics", .array(.text(.topic), 0...200, isUnique: true)),
            .init("start", Contract.StartDraft.shape), .init("defaults", Contract.EventDefaults.shape),
            .init("content", .text(.attributesType)),
        ], excluding: [.init("channelsOpenAt", "channelsOpenBefore")])
}

extension Contract.ReopenOrder: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("audiences", .array(Contract.AudienceSelector.shape, 1...1_000, isUnique: false))], excluding: [])
}

extension Contract.StartOrder: ContractRequest {
    package static let shape: RequestShape = .object([.init("dryRun", .flag)], excluding: [])
}

extension Contract.VariantState: ContractRequest {
    package static let shape: RequestShape = .object([.init("contentState", .raw)], excluding: [])
}

extension Contract.StateDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("contentState", isRequired: true, .raw), .init("sequence", .integer(0...9_007_199_254_740_991)),
            .init("sequenceEpoch", .integer(0...9_007_199_254_740_991)), .init("final", .flag),
            .init("audiences", .array(Contract.AudienceSelector.shape, 1...1_000, isUnique: false)),
            .init("byVariant", .map(.variant, Contract.VariantState.shape)),
        ], excluding: [])
}

extension Contract.BroadcastItem: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("eventKey", isRequired: true, .text(.eventKey)),
            .init("event", isRequired: true, .words(Contract.BroadcastKind.allCases.map(\.rawValue))),
            .init("contentState", .raw), .init("alert", Contract.Alert.shape),
            .init("byVariant", .map(.variant, Contract.VariantContent.shape)),
            .init("audiences", .array(Contract.AudienceSelector.shape, 1...1_000, isUnique: false)),
            .init("priority", .numbers([1, 5, 10])), .init("expiresIn", .integer(1...28_800)),
            .init("apnsExpiration", .integer(0...4_294_967_294)), .init("staleDate", .time),
            .init("dismissalDate", .time), .init("relevanceScore", .number),
            .init("sendAt", .objectOr(Contract.AfterStart.shape, .time)),
        ], excluding: [.init("expiresIn", "apnsExpiration")])
}

extension Contract.BroadcastBatch: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("items", isRequired: true, .array(Contract.BroadcastItem.shape, 1...500, isUnique: false))],
        excluding: [])
}

extension Contract.LookupBatch: ContractRequest {
    package static let shape: RequestShape = .object(
        [.init("eventKeys", isRequired: true, .array(.text(TextRule()), 1...100, isUnique: false))], excluding: [])
}

extension Contract.StartTokenDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("attributesType", isRequired: true, .text(TextRule(1...200, isPrintable: true))),
            .init("token", isRequired: true, .text(.deviceToken)),
        ], excluding: [])
}

extension Contract.InstallationDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("sequence", .integer(0...9_007_199_254_740_991)),
            .init("systemVersion", isRequired: true, .text(.systemVersion)),
            .init("appVersion", .text(TextRule(1...64, isPrintable: true))),
            .init("locale", .text(TextRule(1...64, isPrintable: true))), .init("variant", .text(.variant)),
            .init(
                "timeZone",
                .text(
                    TextRule(
                        1...64, pattern: #"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$"#,
                        rule: "A name of the tz database such as Europe/Vienna was expected."))),
            .init("liveActivitiesEnabled", .flag), .init("frequentPushesEnabled", .flag),
            .init("startTokens", .array(Contract.StartTokenDraft.shape, 0...20, isUnique: false)),
            .init("topics", .array(.text(.topic), 0...200, isUnique: false)),
        ], excluding: [])
}

extension Contract.ActivityDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("eventKey", isRequired: true, .text(.eventKey)),
            .init("attributesType", isRequired: true, .text(TextRule(1...200, isPrintable: true))),
            .init("state", isRequired: true, .words(Contract.ActivityState.allCases.map(\.rawValue))),
            .init("updateToken", .text(.deviceToken)), .init("channelId", .text(TextRule(1...200, isPrintable: true))),
            .init("variant", .text(.variant)),
        ], excluding: [])
}

extension Contract.WebhookDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("url", isRequired: true, .text(.webhookUrl)), .init("description", .text(.name)),
            .init(
                "topics", isRequired: true,
                .array(.words(Contract.WebhookTopic.allCases.map(\.rawValue)), 1...9, isUnique: true)),
            .init("bundleId", .text(.bundleId)), .init("bundleIds", .array(.text(.bundleId), 1...100, isUnique: false)),
            .init("enabled", .flag),
        ], excluding: [.init("bundleId", "bundleIds")])
}

extension Contract.WebhookRotation: ContractRequest {
    package static let shape: RequestShape = .object([.init("overlapSeconds", .integer(0...604_800))], excluding: [])
}

extension Contract.KeyDraft: ContractRequest {
    package static let shape: RequestShape = .object(
        [
            .init("name", isRequired: true, .text(.name)),
            .init(
                "scopes", isRequired: true,
                .array(.words(Contract.Scope.allCases.map(\.rawValue)), 1...5, isUnique: false)),
            .init("bundleId", .text(.bundleId)), .init("bundleIds", .array(.text(.bundleId), 1...100, isUnique: false)),
            .init("eventKeyPrefix", .text(.eventKey)), .init("expiresAt", .time),
        ], excluding: [.init("bundleId", "bundleIds")])
}

extension Contract.RotationDraft: ContractRequest {
    package static let shape: RequestShape = .object([.init("overlapSeconds", .integer(0...2_592_000))], excluding: [])
}
