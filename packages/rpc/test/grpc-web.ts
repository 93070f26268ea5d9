/** gRPC-Web over HTTP/1.1 by hand, framed like browsers and the public TypeScript client. */

export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(5 + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, 5);
  return framed;
}

export interface WebAnswer {
  status: number;
  headers: Headers;
  messages: Uint8Array[];
  /** From the trailer frame, or from the headers if there is none. */
  trailers: Record<string, string>;
}

export async function grpcWeb(
  url: string,
  message: Uint8Array,
  headers: Record<string, string> = {},
): Promise<WebAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/grpc-web+proto',
      'x-grpc-web': '1',
      authorization: 'Bearer token-1',
      ...headers,
    },
    body: frame(message),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const messages: Uint8Array[] = [];
  const trailers: Record<string, string> = {};
  for (let at = 0; at < bytes.length; ) {
    const flags = bytes[at];
    const length = new DataView(bytes.buffer, bytes.byteOffset + at + 1).getUint32(0);
    const body = bytes.subarray(at + 5, at + 5 + length);
    if (flags === 0) messages.push(body);
    else Object.assign(trailers, parseTrailers(new TextDecoder().decode(body)));
    at += 5 + length;
  }
  for (const name of ['grpc-status', 'grpc-message']) {
    const value = response.headers.get(name);
    if (value !== null) trailers[name] = value;
  }
  return { status: response.status, headers: response.headers, messages, trailers };
}

function parseTrailers(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split('\r\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}
