import AppStoreConnection
import Base
import EventLoop

/// `coinledger demo`
enum DemoCommand {
    static let subcommand = Subcommand(
        "demo", summary: "Plays the flow of a purchase against a running coinledger dev.",
        discussion: """
            Buys at the stand-in App Store, posts, loses answers and posts, and says what happens. Exits
            with 1 if anything is answered otherwise than the story says.
            """,
        options: [DevCommand.data]
    ) { settings in
        let page = try DevPage(folder: try settings.required(DevCommand.data))
        let loop = EventLoop()
        let result: Result<Void, any Error> = loop.run {
            let http = HTTPClient()
            defer { http.stop() }
            do {
                try await DemoStory(page, http, loop).play()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return 0
    }
}
