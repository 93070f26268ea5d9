/** Stops everything that moves on a machine. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { clientOf } from '../api/clients.ts';
import { problemOf } from '../api/problem.ts';
import { toast } from '../ui/toasts.svelte.ts';
import { callMachine } from './path/open-paths.svelte.ts';

const method = 'platform.robot.v1.RobotService/StopAll';
const app = clientOf(AppService);
const timeoutMs = 20_000;

/** Stops each part, and shows the outcome. Never rejects. */
export async function stopAll(name: string, partIds: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const told = await Promise.allSettled(
    partIds.map((partId) => callMachine(partId, method, {}, { over: 'all', signal })),
  );
  const failed = told.flatMap((one) => (one.status === 'rejected' ? [problemOf(one.reason)] : []));
  const [first] = failed;
  if (first === undefined) return toast(`Everything on ${name} was told to stop.`);
  const parts = partIds.length > 1 ? ` (${failed.length} of ${partIds.length} parts)` : '';
  toast(`Stop all of ${name}${parts}: ${first.title}. ${first.detail}`, 'problem');
}

/** Like `stopAll`, for a machine whose parts are not known. @param mainPartId the part to stop if the cloud does not list the parts */
export async function stopAllOf(machine: { readonly id: string; readonly name: string; readonly mainPartId: string }) {
  const found = await app.getRobotParts({ robotId: machine.id }).then(
    ({ parts }) => parts.map(({ id }) => id),
    () => [machine.mainPartId],
  );
  await stopAll(machine.name, found);
}
