internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// The advice that pages show about refusals by Apple, expired deliveries and quotas.
struct AdviceTests {
    @Test(arguments: APNsReason.table.map(\.reason.rawValue))
    func `every reason of Apple has an advice`(reason: String) {
        #expect(Advice.delivery(.rejected, reason: reason)?.isEmpty == false)
        #expect(Advice.delivery(.expired, reason: reason)?.hasPrefix("It was tried until it expired. ") == true)
        #expect(Advice.channel(reason: reason) != nil)
    }

    @Test func `the advice fits the reason`() {
        #expect(Advice.delivery(.rejected, reason: "BroadcastFeatureNotEnabled") == Advice.capability)
        #expect(Advice.delivery(.rejected, reason: "PayloadTooLarge")?.contains("5,120 bytes") == true)
        #expect(Advice.delivery(.rejected, reason: "BrandNewReason")?.contains("Apple refused it") == true)
        #expect(Advice.delivery(.expired, reason: nil)?.contains("for its turn until its time ran out") == true)
        #expect(Advice.delivery(.expired, reason: "no answer within 5 s")?.contains("doctor") == true)
        #expect(Advice.channel(reason: "quota-exhausted")?.contains("or raise the limit") == true)
        #expect(Advice.channel(reason: "kept until 2026") == nil)
    }

    @Test(arguments: Delivery.State.allCases)
    func `only deliveries that failed have an advice`(state: Delivery.State) {
        let isFailure = state == .rejected || state == .expired || state == .unknown
        #expect((Advice.delivery(state, reason: "BadPriority") != nil) == isFailure)
    }

    @Test func `a quota's problems are listed, the gravest first`() throws {
        let samples = try Samples()
        let all = Attention.list(samples.quota())
        #expect(all.map(\.level) == ["critical", "critical", "critical", "warning", "warning", "warning"])
        for (text, attention) in zip(
            [
                "vanished", "may not broadcast", "9,610 of 9,997 places", "could not be created", "missing",
                "did not create",
            ],
            all)
        { #expect(attention.text.contains(text), "\(attention.text)") }
        #expect(
            all[0].remedies.map(\.line) == ["grandstand reconcile com.example.Stadium production --apply --recreate"])
        #expect(all[5].remedies.count == 2)
        #expect(all[5].href?.hasSuffix("/channels?managed=false") == true)
    }

    @Test func `a refused key is critical, with Apple's reason and what to do`() throws {
        let samples = try Samples()
        var quota = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false, exceedsAt: nil)
        quota.keyRefused = Quota.KeyRefused(
            credentials: Credentials(teamID: "TEAM123456", keyID: "KEY1234567"),
            refusal: KeyRefusal(reason: .invalidProviderToken, since: Samples.now))
        let list = Attention.list(quota)
        #expect(list.map(\.level) == ["critical"])
        #expect(
            list.first?.text.hasPrefix(
                "APNs refuses the key KEY1234567 since 2026-11-22 00:00 UTC: InvalidProviderToken. Nothing is sent")
                == true)
    }

    @Test func `a normal quota has no advice, and one that will be exceeded has a warning`() throws {
        let samples = try Samples()
        let fine = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false, exceedsAt: nil)
        #expect(Attention.list(fine).isEmpty)
        let coming = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false)
        let list = Attention.list(coming)
        #expect(list.map(\.level) == ["warning"])
        #expect(list.first?.text.contains("2026-11-22 01:00 UTC") == true)
    }
}
