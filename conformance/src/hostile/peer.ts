/** A machine-server that nobody attacks: how long its canary waits is what other work on this computer causes. */
import { type Canary, startCanary } from '../faults/canary.ts';
import { startMachine } from '../machine/start-machine.ts';

export const operationCalls: readonly { readonly path: string }[] = [
  { path: '/platform.robot.v1.RobotService/GetOperations' },
];

export async function startPeer(): Promise<{ readonly canary: Canary } & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const { url } = starting.use(await startMachine({}));
  const canary = starting.use(await startCanary({ url, calls: operationCalls }));
  const started = starting.move();
  return { canary, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
