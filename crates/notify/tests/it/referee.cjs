// Verifies deliveries with the reference implementation of Standard Webhooks: one JSON line in, one word out.
const { Webhook } = require("standardwebhooks");

const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
for (const line of lines) {
  const { secret, headers, body } = JSON.parse(line);
  try {
    const event = new Webhook(secret).verify(body, headers);
    console.log(JSON.stringify({ verified: event.id }));
  } catch (error) {
    console.log(JSON.stringify({ refused: error.message }));
  }
}
