/** An HTTP server that keeps the requests it receives and answers as the test says. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedWebhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WebhookSink extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly ReceivedWebhook[];
  /** Sets the answer from now on; a function decides for each request, and may take any time. Default: 200 without a body. */
  answerWith(answer: WebhookAnswer | ((request: ReceivedWebhook) => WebhookAnswer | Promise<WebhookAnswer>)): void;
  /** Resolves with all requests once there are `count`; rejects when the signal is aborted. */
  waitFor(count: number, signal?: AbortSignal): Promise<readonly ReceivedWebhook[]>;
}

export async function startWebhookSink(): Promise<WebhookSink> {
  const requests: ReceivedWebhook[] = [];
  const arrived = new EventTarget();
  let answer: (request: ReceivedWebhook) => WebhookAnswer | Promise<WebhookAnswer> = () => ({ status: 200 });

  const server = createServer((incoming, response) => {
    void readBody(incoming).then(async (body) => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, path: url, headers, body };
      requests.push(request);
      arrived.dispatchEvent(new Event('request'));
      const { status, headers: answerHeaders = {}, body: answerBody = '' } = await answer(request);
      response.writeHead(status, answerHeaders).end(answerBody);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answerWith(next) {
      answer = typeof next === 'function' ? next : () => next;
    },
    async waitFor(count, signal) {
      while (requests.length < count) {
        signal?.throwIfAborted();
        await new Promise<void>((resolve, reject) => {
          const onAbort = (): void => reject(signal?.reason);
          signal?.addEventListener('abort', onAbort, { once: true });
          arrived.addEventListener(
            'request',
            () => {
              signal?.removeEventListener('abort', onAbort);
              resolve();
            },
            { once: true },
          );
        });
      }
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
