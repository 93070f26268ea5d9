/** Reads a captured file from a given position over HTTP, because files are larger than messages. */
import type { IncomingMessage } from 'node:http';
import { bodyChunks, type HttpRequest, openHttp, readAnswer } from './http-request.ts';
import { refusalOf } from './refusal.ts';

export interface FileBody {
  /** First byte returned: the requested one, or 0. */
  readonly fromByte: number;
  /** Size of the whole file. */
  readonly totalBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

type WithToken = (send: (token: string) => Promise<IncomingMessage>) => Promise<IncomingMessage>;

/** @throws the code and message of a refusal; `unavailable` during reading if the body is cut off */
export async function openFile(
  url: URL,
  fromByte: number,
  ca: string | undefined,
  signal: AbortSignal,
  withToken: WithToken,
): Promise<FileBody> {
  const request = (token: string): HttpRequest => ({
    url,
    headers: { authorization: `Bearer ${token}`, ...(fromByte > 0 && { range: `bytes=${fromByte}-` }) },
    ca,
    signal,
  });
  let sent = request('');
  const response = await withToken((token) => {
    sent = request(token);
    return openHttp(sent);
  });
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200 && statusCode !== 206)
    throw refusalOf(await readAnswer(response, sent), `GET ${url.pathname}`);
  const [, start = '0', total = headers['content-length'] ?? '0'] =
    /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return { fromByte: Number(start), totalBytes: Number(total), chunks: bodyChunks(response, sent) };
}
