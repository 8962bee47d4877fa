internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import Testing

@testable internal import GrandstandServer

/// The advice that pages show about refusals by Apple, expired deliveries and quotas.
struct AdviceTests {
    @Test(arguments: APNsReason.table.map(\.reason.rawValue))
    func `every reason of Apple has an advice`(reason: String) {
        #expect(Advice.delivery(.rejected, reason: reason)?.isEmpty == false)
        #expect(Advice.delivery(.expired, reason: reason)?.hasPrefix("It was tried until it expired. ") == true)
        #expect(Advice.channel(reason: reason) != nil)
    }

    @Test func `a quota's problems are listed, the gravest first`() throws {
        let samples = try Samples()
        let all = samples.overview([samples.quota()]).attentions
        #expect(all.map(\.level) == ["critical", "critical", "critical", "warning", "warning", "warning"])
        #expect(
            all[0].remedies.map(\.line) == ["grandstand reconcile com.example.Stadium production --apply --recreate"])
    }

    @Test func `a normal quota has no advice, a refused key is critical, an excess to come is a warning`() throws {
        let samples = try Samples()
        var fine = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false, exceedsAt: nil)
        #expect(Attention.list(fine).isEmpty)
        fine.keyRefused = Quota.KeyRefused(
            credentials: Sample.credentials,
            refusal: KeyRefusal(reason: .invalidProviderToken, since: Samples.now))
        #expect(Attention.list(fine).map(\.level) == ["critical"])
        (fine.keyRefused, fine.isNothingAccepted, fine.unacceptedSince) = (nil, true, Samples.now)
        #expect(Attention.list(fine)[0].text.contains("In place of rejected and expired ones send the newest state."))
        let coming = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false)
        #expect(Attention.list(coming).map(\.level) == ["warning"])
    }
}
