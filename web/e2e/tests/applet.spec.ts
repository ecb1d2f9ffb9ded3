// Messages that an applet sent look different from what a person typed.
import { expect, say, settled, test } from "../fixtures.js";

test("a message from an applet is orange and names its applet", async ({
  page,
  server,
}) => {
  // The feed is real, but this person's messages are said to come from an applet.
  await page.routeWebSocket(/\/events/, (socket) => {
    const upstream = socket.connectToServer();
    upstream.onMessage((data) =>
      socket.send(
        String(data).replaceAll(
          '{"kind":"person"}',
          '{"kind":"applet","slug":"movie-picker"}',
        ),
      ),
    );
  });
  await page.goto(server.url);
  await say(page, "Two seats for tonight");
  await settled(page);
  const bubble = page.locator(".message.user.applet-invoked");
  await expect(bubble).toHaveAttribute("data-applet-source", "movie-picker");
  await expect(bubble).toContainText("Two seats for tonight");
  await expect(bubble).toHaveCSS("color", "rgb(26, 13, 0)");
  await page.screenshot({ path: "results/applet.png" });
});
