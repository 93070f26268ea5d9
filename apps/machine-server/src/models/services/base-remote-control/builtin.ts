/**
 * `core:builtin:builtin`: drives a base with an input controller of the same machine.
 *
 * Attributes: `base` and `input_controller`, names of the two (required); `control_mode`, a name of control-modes.ts (default
 * `arrowControl`); `max_linear_mm_per_sec` and `max_angular_deg_per_sec`: if both are above 0, the base is driven by speed, at most this
 * fast, and otherwise by power. The base stops when the controller connects, disconnects or fails, and when the service closes.
 */
import { create } from '@bufbuild/protobuf';
import { backoffMs, type Clock, errorText, invalidValue, unavailable } from '@platform/base';
import {
  SetPowerRequestSchema,
  SetVelocityRequestSchema,
  StopRequestSchema,
} from '@platform/proto/platform/component/base/v1/base';
import { StreamEventsRequestSchema } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import {
  type Base,
  type BaseRemoteControl,
  baseRemoteControl,
  base as baseType,
  type InputController,
  inputController,
} from '@platform/resources';
import type { BuildContext, Model } from '../../../graph/model.ts';
import { readAttributes, type ValuesOf } from '../../attributes.ts';
import { dependencyOf, namedIn } from '../../dependency.ts';
import { noCommands } from '../../no-commands.ts';
import { Controls, controlModes, standing, type Throttle } from './control-modes.ts';

const fields = {
  base: { kind: 'string' },
  input_controller: { kind: 'string' },
  control_mode: { kind: 'string', default: 'arrowControl' },
  max_linear_mm_per_sec: { kind: 'float', default: 0, min: 0 },
  max_angular_deg_per_sec: { kind: 'float', default: 0, min: 0 },
} as const;

type Values = ValuesOf<typeof fields>;

export function createBaseRemoteControl(clock: Clock): Model {
  return {
    api: baseRemoteControl.api,
    model: 'core:builtin:builtin',
    fields,
    dependencies: namedIn('base', 'input_controller'),
    async build(config, context) {
      const values = readAttributes(fields, config.attributes);
      const mode = controlModes[values.control_mode];
      if (mode === undefined) {
        const known = Object.keys(controlModes).join(', ');
        throw invalidValue('attributes.control_mode', `one of ${known}`, values.control_mode);
      }
      const driven = dependencyOf(context, baseType, values.base, 'base');
      const controller = dependencyOf(context, inputController, values.input_controller, 'input_controller');
      return start({ values, mode, driven, controller, clock, log: context.log });
    },
  };
}

interface Parts {
  readonly values: Values;
  readonly mode: (typeof controlModes)[string];
  readonly driven: Base;
  readonly controller: InputController;
  readonly clock: Clock;
  readonly log: BuildContext['log'];
}

/** Follows the controller until it is closed. After a failure, tries again after increasing delays. */
function start({ values, mode, driven, controller, clock, log }: Parts): BaseRemoteControl {
  const closing = new AbortController();
  const { signal } = closing;
  let throttle: Throttle = standing;

  const stop = async (): Promise<void> => {
    throttle = standing;
    // Also while the service closes.
    await driven.stop(create(StopRequestSchema), { signal: AbortSignal.timeout(stopLimitMs) });
  };
  const drive = async (next: Throttle): Promise<void> => {
    if (isSame(next, throttle)) return;
    const { x, y, z, turn } = next;
    const [mmPerSec, degPerSec] = [values.max_linear_mm_per_sec, values.max_angular_deg_per_sec];
    const isBySpeed = mmPerSec > 0 && degPerSec > 0;
    const [length, angle] = isBySpeed ? [mmPerSec, degPerSec] : [1, 1];
    const motion = { linear: { x: x * length, y: y * length, z: z * length }, angular: { z: turn * angle } };
    if (isBySpeed) await driven.setVelocity(create(SetVelocityRequestSchema, motion), { signal });
    else await driven.setPower(create(SetPowerRequestSchema, motion), { signal });
    throttle = next;
  };
  const follow = async (onEvent: () => void): Promise<void> => {
    const controls = new Controls();
    const events = mode.controls.map((control) => ({ control, events: [...mode.events, ...changes] }));
    for await (const { event } of controller.streamEvents(create(StreamEventsRequestSchema, { events }), { signal })) {
      if (event === undefined) continue;
      onEvent();
      const { control = '', event: kind = '', value = 0 } = event;
      if (changes.includes(kind)) await stop();
      else {
        mode.note(controls, { control, event: kind, value });
        await drive(mode.throttle(controls));
      }
    }
    throw unavailable('the input controller ended its stream of events');
  };
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await follow(() => {
          failures = 0;
        });
      } catch (caught) {
        if (signal.aborted) return;
        log.error(`the base is stopped, and the input controller is tried again: ${errorText(caught)}`);
        await stop().catch((failure: unknown) => log.error(`the base does not stop: ${errorText(failure)}`));
        await clock.sleep(backoffMs(++failures, { firstMs: 500, maxMs: 10_000 }), signal).catch(() => {});
      }
    }
  };
  const running = run();
  return {
    doCommand: noCommands('base_remote_control: this model has no commands'),
    async getStatus() {
      const { x, y, z, turn } = throttle;
      return { result: { control_mode: values.control_mode, throttle: { x, y, z, turn } } };
    },
    async close() {
      closing.abort();
      await running;
      await stop();
    },
  };
}

const changes: readonly string[] = ['Connect', 'Disconnect'];
const stopLimitMs = 5_000;

function isSame(a: Throttle, b: Throttle): boolean {
  return a.x === b.x && a.y === b.y && a.z === b.z && a.turn === b.turn;
}
