/** The current machine: itself and its parts, polled, and the status of the chosen part, live. */
import { AppService, type Robot, type RobotPart } from '@platform/proto/platform/app/v1/app';
import type { GetPartStatusResponse } from '@platform/proto/platform/fleet/v1/fleet';
import { getContext, setContext } from 'svelte';
import { clientOf } from '../api/clients.ts';
import { live } from '../api/live.svelte.ts';
import { type Polled, poll } from '../api/poll.svelte.ts';

export interface ShownMachine {
  readonly robot: Robot;
  readonly parts: readonly RobotPart[];
  /** The chosen part, otherwise the main one. */
  readonly part: RobotPart;
  readonly status: GetPartStatusResponse;
}

/** Names and parts change rarely. */
const everyMs = 60_000;
const key = Symbol('machine');
const app = clientOf(AppService);

export function startMachine(machineId: () => string, partId: () => string): Polled<ShownMachine> {
  const machine = poll(async (signal) => {
    const id = machineId();
    const [{ robot }, { parts }] = await Promise.all([
      app.getRobot({ id }, { signal }),
      app.getRobotParts({ robotId: id }, { signal }),
    ]);
    if (robot === undefined || parts.length === 0)
      throw new Error('This machine has no part. Add one, or delete the machine.');
    return { robot, parts };
  }, everyMs);
  const part = $derived.by(() => {
    const { robot, parts = [] } = machine.value ?? {};
    if (robot?.id !== machineId()) return undefined;
    return parts.find(({ id }) => id === partId()) ?? parts.find(({ mainPart }) => mainPart) ?? parts[0];
  });
  const chosenId = $derived(part?.id ?? '');
  const status = live<GetPartStatusResponse | undefined>(
    () => (chosenId === '' ? undefined : { case: 'statusOf', value: chosenId }),
    (content, before) => (content.case === 'status' ? content.value : before),
  );
  const shown = $derived(
    machine.value && part && status.value?.partId === part.id
      ? { ...machine.value, part, status: status.value }
      : undefined,
  );
  return setContext(key, {
    get value() {
      return shown;
    },
    get problem() {
      return machine.problem ?? status.problem;
    },
    refresh() {
      machine.refresh();
      status.refresh();
    },
  });
}

export function useMachine(): Polled<ShownMachine> {
  return getContext(key);
}
