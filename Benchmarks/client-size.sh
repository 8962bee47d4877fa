#!/bin/sh
# What an app links: the same program without this package, with GrandstandClient, and with GrandstandLiveActivities;
# optimised, unused sections removed, stripped. On Linux, so without the part that talks to ActivityKit.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-swift-version 6 -O -wmo -package-name grandstand -I $work -parse-as-library
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
    -Xcc -ffunction-sections"

for module in JSON GrandstandContract GrandstandClient GrandstandLiveActivities; do
    # shellcheck disable=SC2046,SC2086
    swiftc $flags -module-name "$module" -emit-module -emit-module-path "$work/$module.swiftmodule" \
        -emit-object -o "$work/$module.o" $(find -L "Sources/$module" -name '*.swift' | sort)
done

program() {
    name=$1 objects=$2
    cat >"$work/$name.swift"
    # shellcheck disable=SC2086
    swiftc $flags -module-name "$name" -Xlinker --gc-sections -Xlinker -s -o "$work/$name" "$work/$name.swift" $objects
    wc -c <"$work/$name" | tr -d ' '
}

plain=$(program Plain "" <<'EOF'
import Foundation
@main struct Plain {
    static func main() async throws {
        let (data, _) = (Data(), 0)
        print(try JSONDecoder().decode([String: String].self, from: data), URL(string: "https://a.example") as Any)
    }
}
EOF
)
client=$(program Client "$work/JSON.o $work/GrandstandContract.o $work/GrandstandClient.o" <<'EOF'
import Foundation
import GrandstandClient
@main struct Client {
    static func main() async throws {
        let client = GrandstandClient(server: URL(string: "https://a.example")!, key: "k", cache: .standard)
        print(try await client.lookup("derby", in: .init("com.example.Stadium", .production)).channelId as Any)
    }
}
EOF
)
activities=$(program Activities "$work/JSON.o $work/GrandstandContract.o $work/GrandstandClient.o $work/GrandstandLiveActivities.o" <<'EOF'
import Foundation
import GrandstandClient
import GrandstandLiveActivities
struct Nobody: ActivityHost {
    func condition() async -> HostCondition { HostCondition(systemVersion: "18.4") }
    func events() -> AsyncStream<HostEvent> { AsyncStream { $0.finish() } }
    func start(
        _ wanted: WantedStart, by delivery: ActivityDelivery, contentState: Data?
    ) async throws -> ActivitySnapshot { throw StartRefusal.disabled }
}
@main struct Activities {
    static func main() async throws {
        let client = GrandstandClient(server: URL(string: "https://a.example")!, key: "k", cache: .standard)
        let folder = FileManager.default.temporaryDirectory
        let app = LiveActivities(
            host: Nobody(), server: GrandstandServer(client: client, app: .init("com.example.Stadium", .production)),
            store: RecordStore(file: folder), credentials: FileCredentials(file: folder), time: SystemTime())
        await app.start()
        try await app.follow(["team:rapid"])
        for await status in await app.statuses() { print(status) }
    }
}
EOF
)
echo "plain $plain, with GrandstandClient +$((client - plain)), with GrandstandLiveActivities +$((activities - plain)) bytes"
