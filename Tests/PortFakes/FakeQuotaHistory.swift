package import FoundationEssentials
package import Grandstand

/// Samples of quotas, as `QuotaHistoryStore` has them.
package struct FakeQuotaHistory: QuotaHistoryStore {
    package var lacking: @Sendable (Date) throws -> Bool = { _ in throw Unasked() }
    package var take: @Sendable ([Quota], Date) throws -> Bool = { _, _ in throw Unasked() }
    package var list: @Sendable (QuotaHistory) throws -> [QuotaSample] = { _ in throw Unasked() }

    package init() {}

    package func lacks(_ at: Date) async throws -> Bool { try lacking(at) }
    package func record(_ quotas: [Quota], at: Date) async throws -> Bool { try take(quotas, at) }
    package func samples(_ history: QuotaHistory) async throws -> [QuotaSample] { try list(history) }
}
