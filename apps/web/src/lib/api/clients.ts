/** The clients of the cloud's API. The session authenticates them: its cookie, which scripts never see, and the secret that `reach` adds. */
import type { DescService } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { reach } from './reach.ts';
import { endSession } from './session.svelte.ts';

/** A call that takes longer fails with an error, so that no page waits forever. */
const timeoutMs = 20_000;

const noticeEndedSession: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (caught) {
    if (ConnectError.from(caught).code === Code.Unauthenticated) endSession();
    throw caught;
  }
};

const transport = createConnectTransport({
  baseUrl: '/',
  fetch: reach,
  useBinaryFormat: true,
  defaultTimeoutMs: timeoutMs,
  interceptors: [noticeEndedSession],
});

export function clientOf<T extends DescService>(service: T): Client<T> {
  return createClient(service, transport);
}
