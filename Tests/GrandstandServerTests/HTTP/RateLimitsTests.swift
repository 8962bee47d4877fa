internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

struct RateLimitsTests {
    @Test func `new installations are counted by address, except those behind proxies`() {
        let limits = RateLimits(requests: nil, failures: nil, installations: 60)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        for address in ["93.184.216.34", "2a00:1450:4001:8"] {
            for _ in 0..<60 {
                #expect(limits.refusesNewInstallation(from: address, at: now) == nil)
                limits.registered(from: address, at: now)
            }
            #expect(limits.refusesNewInstallation(from: address, at: now)?.reset == 1)
            #expect(limits.refusesNewInstallation(from: address, at: now.addingTimeInterval(1)) == nil)
        }
        for address in ["127.0.0.1", "10.1.2.3", "192.168.0.7", "0:0:0:0", "fd00:1:2:3"] {
            for _ in 0..<100 { limits.registered(from: address, at: now) }
            #expect(limits.refusesNewInstallation(from: address, at: now) == nil, "\(address)")
        }
        let unlimited = RateLimits(requests: nil, failures: nil)
        for _ in 0..<100 { unlimited.registered(from: "93.184.216.34", at: now) }
        #expect(unlimited.refusesNewInstallation(from: "93.184.216.34", at: now) == nil)
    }

    @Test func `requests of app keys other than lookups are limited, whatever the settings are`() {
        let limits = RateLimits(requests: nil, failures: nil)
        let (phone, now) = (UUID(), Date(timeIntervalSince1970: 1_700_000_000))
        for _ in 0..<20 {
            let standing = limits.take(phone, isForClientApps: true, for: [], at: now)
            #expect(standing?.isExhausted == false)
        }
        #expect(limits.take(phone, isForClientApps: true, for: [], at: now)?.isExhausted == true)
        let later = now.addingTimeInterval(1)
        #expect(limits.take(phone, isForClientApps: true, for: [], at: later)?.isExhausted == false)
        // Lookups have no limit. Keys that are not for client apps have none in these settings.
        #expect(limits.take(phone, isForClientApps: true, for: [.lookup], at: now) == nil)
        #expect(limits.take(UUID(), for: [], at: now) == nil)
    }
}
