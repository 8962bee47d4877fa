internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandAPI

struct RateLimitsTests {
    @Test func `what a key of client apps may ask beside lookups is bounded, whatever the settings are`() {
        let limits = RateLimits(.init(requests: nil, lookups: nil, failures: nil))
        let (phone, now) = (UUID(), Date(timeIntervalSince1970: 1_700_000_000))
        for _ in 0..<20 {
            let standing = limits.take(phone, isForClientApps: true, for: .anyKey, at: now)
            #expect(standing?.isExhausted == false)
        }
        #expect(limits.take(phone, isForClientApps: true, for: .anyKey, at: now)?.isExhausted == true)
        let later = now.addingTimeInterval(1)
        #expect(limits.take(phone, isForClientApps: true, for: .anyKey, at: later)?.isExhausted == false)
        // Lookups are counted for themselves, and other keys not at all here.
        #expect(limits.take(phone, isForClientApps: true, for: LookupRoutes.access, at: now) == nil)
        #expect(limits.take(UUID(), for: .anyKey, at: now) == nil)
    }
}
