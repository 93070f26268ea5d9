/** Writes a whole response under either HTTP version. */
import type { NodeResponse } from './node-types.ts';

export function writeResponse(
  response: NodeResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  // The two types differ in overloads only, yet TypeScript cannot call their union.
  if ('stream' in response) response.end(body);
  else response.end(body);
}
