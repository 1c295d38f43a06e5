// Asking the server. Every failure becomes an Error whose message is one sentence to show.

const GONE = "The server does not answer; start `discotext serve` again and open the address that it prints.";

async function send(path, body, signal) {
  let answer;
  try {
    answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(GONE);
  }
  if (!answer.ok) {
    const said = await answer.text();
    let sentence = said;
    try {
      sentence = JSON.parse(said).error;
    } catch {
      // Plain text is a sentence already.
    }
    throw new Error(sentence || `The server answered with status ${answer.status}.`);
  }
  return answer;
}

export async function ask(path, body, signal) {
  return (await send(path, body, signal)).json();
}

// Reads server-sent events until the stream ends; `hear` gets the name and the object of each.
export async function listen(path, body, signal, hear) {
  const answer = await send(path, body, signal);
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let ended = false;
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      throw error.name === "AbortError" ? error : new Error(GONE);
    }
    if (part.done) break;
    rest += decoder.decode(part.value, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const name = lines.find((line) => line.startsWith("event: "));
      const data = lines.find((line) => line.startsWith("data: "));
      if (!name || !data) continue;
      const event = name.slice(7);
      const content = JSON.parse(data.slice(6));
      if (event === "error") throw new Error(content.message);
      if (event === "done") ended = true;
      else hear(event, content);
    }
  }
  if (!ended) throw new Error(GONE);
}
