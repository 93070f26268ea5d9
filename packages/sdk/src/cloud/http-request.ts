/** One HTTP request to a cloud, over TLS with the authority that the link trusts (which `fetch` cannot be told). */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { PlatformError } from '@platform/base';

export interface HttpRequest {
  readonly url: URL;
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** The parsed body when it is JSON, else its text. */
  readonly body: unknown;
}

/** Redirects are answers. @throws unavailable when there is no answer, the reason of `signal` when that aborts. */
export function sendHttp({ url, method = 'GET', headers = {}, body, ca, signal }: HttpRequest): Promise<HttpAnswer> {
  const options: RequestOptions & { ca?: string } = { method, headers, signal, ...(ca === undefined ? {} : { ca }) };
  return new Promise((resolve, reject) => {
    const failed = (caught: Error): void =>
      reject(
        signal.aborted
          ? signal.reason
          : new PlatformError(
              'unavailable',
              `${url.origin} cannot be reached or broke off: ${reasonOf(caught)}`,
              caught,
            ),
      );
    const take = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', failed);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, body: bodyOf(text, response.headers['content-type']) });
      });
    };
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    open(url, options, take).on('error', failed).end(body);
  });
}

/** Several addresses that fail are an error without a message of its own. */
function reasonOf(caught: Error): string {
  if (caught instanceof AggregateError) return caught.errors.map(String).join(' and ');
  return caught.message;
}

function bodyOf(text: string, contentType: string | undefined): unknown {
  if (!contentType?.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
