/**
 * A process of its own that asks a server every 100 ms and measures the longest wait: what everybody else notices of the load that a test
 * makes.
 */
import { fileURLToPath } from 'node:url';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { spawnChild } from '@platform/testkit';

export interface CanaryOptions {
  readonly url: string;
  /** Unary gRPC calls, made by turns. */
  readonly calls: readonly {
    /** `/package.Service/Method` */
    readonly path: string;
    /** Base64; default: an empty message. */
    readonly message?: string;
    readonly accessToken?: string;
  }[];
  /** Default 100. */
  readonly everyMs?: number;
  /** The process asked, for `busiestMs`. */
  readonly pid?: number;
}

export interface CanaryReport {
  readonly asked: number;
  /** Answered with OK, also those that were asked before. */
  readonly answered: number;
  readonly longestMs: number;
  /** The most processor time that the main thread of `pid` used during one call; 0 without `pid`. Does not depend on other processes. */
  readonly busiestMs: number;
  /** How often each method failed, with its status. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Canary extends AsyncDisposable {
  /** What happened since the last report. */
  report(): Promise<CanaryReport>;
}

const main = fileURLToPath(new URL('./canary-process.ts', import.meta.url));

/** Resolves when it has been answered once. */
export async function startCanary(options: CanaryOptions): Promise<Canary> {
  const child = spawnChild(process.execPath, ['--conditions=@platform/source', main, JSON.stringify(options)]);
  let asked = 0;
  const report = async (): Promise<CanaryReport> => {
    const index = asked++;
    child.writeLine({});
    await child.waitForLine((line) => line === child.lines[index]);
    return child.lines[index] as unknown as CanaryReport;
  };
  while ((await report()).answered === 0);
  return { report, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}

/** Calls of a cloud: health, and the organizations of an API key. */
export async function cloudCalls({
  url,
  keyId,
  key,
}: {
  readonly url: string;
  readonly keyId: string;
  readonly key: string;
}): Promise<CanaryOptions['calls']> {
  await using link = connect({ baseUrl: url });
  const { accessToken } = await link
    .client(AuthService)
    .authenticate({ entity: keyId, credentials: { type: 'api-key', payload: key } });
  return [
    { path: '/grpc.health.v1.Health/Check' },
    { path: '/platform.app.v1.AppService/ListOrganizations', accessToken },
  ];
}
