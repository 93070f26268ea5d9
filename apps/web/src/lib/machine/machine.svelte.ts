/** The machine that is shown: itself, its parts, and what the chosen part runs; asked again every second. */
import { AppService, type Robot, type RobotPart } from '@platform/proto/platform/app/v1/app';
import { FleetService, type GetPartStatusResponse } from '@platform/proto/platform/fleet/v1/fleet';
import { getContext, setContext } from 'svelte';
import { clientOf } from '../api/clients.ts';
import { type Polled, poll } from '../api/poll.svelte.ts';

export interface ShownMachine {
  readonly robot: Robot;
  readonly parts: readonly RobotPart[];
  /** The chosen part, otherwise the main one. */
  readonly part: RobotPart;
  readonly status: GetPartStatusResponse;
}

const everyMs = 1_000;
const key = Symbol('machine');
const app = clientOf(AppService);
const fleet = clientOf(FleetService);

export function startMachine(machineId: () => string, partId: () => string): Polled<ShownMachine> {
  let known: { readonly robot: Robot; readonly parts: readonly RobotPart[] } | undefined;
  const machine = poll(async (signal) => {
    const [id, wanted] = [machineId(), partId()];
    if (known?.robot.id !== id) {
      const [{ robot }, { parts }] = await Promise.all([
        app.getRobot({ id }, { signal }),
        app.getRobotParts({ robotId: id }, { signal }),
      ]);
      if (robot === undefined || parts.length === 0)
        throw new Error('This machine has no part. Add one, or delete the machine.');
      known = { robot, parts };
    }
    const { robot, parts } = known;
    const part = parts.find((one) => one.id === wanted) ?? parts.find((one) => one.mainPart) ?? (parts[0] as RobotPart);
    return { robot, parts, part, status: await fleet.getPartStatus({ partId: part.id }, { signal }) };
  }, everyMs);
  return setContext(key, machine);
}

export function useMachine(): Polled<ShownMachine> {
  return getContext(key);
}
