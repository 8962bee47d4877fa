internal import Grandstand
internal import Testing

struct NetworkGuardTests {
    @Test(arguments: [
        "1.1.1.1", "93.184.216.34", "172.15.255.255", "172.32.0.0", "100.63.255.255", "223.255.255.255",
        "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::101:101", "::ffff:1.1.1.1",
    ])
    func `public addresses may be called`(text: String) throws {
        #expect(NetworkGuard().allows(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.19.0.1", "203.0.113.9", "224.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fdff::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::1",
        "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "100::1",
    ])
    func `other addresses may not be called`(text: String) throws {
        #expect(!NetworkGuard().allows(try #require(IPAddress(text))))
    }

    @Test func `an allowed network is allowed in every notation, and nothing next to it`() throws {
        let networks = NetworkGuard(allowed: ["10.2.0.0/15", "fd00::/8"].compactMap(IPNetwork.init))
        for text in ["10.2.0.1", "10.3.255.255", "::ffff:10.2.0.1", "fd12::1"] {
            #expect(networks.allows(try #require(IPAddress(text))), "\(text)")
        }
        for text in ["10.1.255.255", "10.4.0.0", "fc00::1", "127.0.0.1"] {
            #expect(!networks.allows(try #require(IPAddress(text))), "\(text)")
        }
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "0x7f.0.0.1", "+1.2.3.4", "1.2.3.4 ", ":::", "1::2::3",
        "12345::", "fe80::1%eth0", "::1.2.3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "g::", ":1::2", "::+1", "[::1]",
    ])
    func `invalid addresses are refused`(text: String) { #expect(IPAddress(text) == nil) }

    @Test func `both forms of an address have the same bytes`() throws {
        #expect(IPAddress("1.2.3.4")?.bytes == [1, 2, 3, 4])
        #expect(IPAddress("::ffff:1.2.3.4")?.unmapped == IPAddress("1.2.3.4"))
        #expect(IPAddress("2001:db8::8:800:200c:417a") == IPAddress("2001:DB8:0:0:8:800:200C:417A"))
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0.0/8/8", "fd00::/129", "localhost"])
    func `invalid networks are refused`(text: String) { #expect(IPNetwork(text) == nil) }
}
