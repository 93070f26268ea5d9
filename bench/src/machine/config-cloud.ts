/** The minimal cloud for a machine-server: sign-in, and the configuration that was set last. */
import { silentLog } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import { type RobotConfig, RobotService } from '@platform/proto/platform/app/v1/robot';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { createRpcServer, serve } from '@platform/rpc/server';

export interface ConfigCloud extends AsyncDisposable {
  readonly url: string;
  /** @returns resolves with the wall clock ms at which the machine got it */
  set(document: object): Promise<number>;
}

export const partId = '11111111-2222-4333-8444-555555555555';

export async function startConfigCloud(document: object): Promise<ConfigCloud> {
  const messageOf = (from: object): RobotConfig => toRobotConfig(parse(from).config, { id: partId });
  let config = messageOf(document);
  let fetched = Promise.withResolvers<number>();
  const robot = serve<typeof RobotService, string>(RobotService, {
    config: () => {
      fetched.resolve(Date.now());
      return { config };
    },
    log: () => ({}),
    needsRestart: () => ({}),
  });
  const auth = serve<typeof AuthService, string>(AuthService, { authenticate: () => ({ accessToken: 'token' }) });
  const server = createRpcServer<string>({
    services: [robot, auth],
    authenticate: async () => 'part',
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${port}`,
    set(next) {
      config = messageOf(next);
      fetched = Promise.withResolvers();
      return fetched.promise;
    },
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}
