/**
 * `core:builtin:fake`: an input controller whose events come from TriggerEvent.
 *
 * Attributes: `controls` (list of names, default ["AbsoluteX", "AbsoluteY", "ButtonStart"]). See fake-model.ts for `errors` and `delays_ms`.
 */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidValue } from '@platform/base';
import { type Event, EventSchema } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import { type InputController, inputController } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { stringsOf } from '../../attributes.ts';
import { fakeModel } from '../../fake/fake-model.ts';
import { createFeed } from '../../fake/feed.ts';

const fields = { controls: { kind: 'list' } } as const;

/** The initial event of every control. */
const connected = 'Connect';
/** A request for this kind gets presses and releases. */
const buttonChange = 'ButtonChange';

export const createFakeInputController: (clock: Clock) => Model = fakeModel<InputController, typeof fields>({
  type: inputController,
  fields,
  make({ controls: given = ['AbsoluteX', 'AbsoluteY', 'ButtonStart'] }, clock) {
    const controls = stringsOf(given, 'controls');
    const time = timestampFromMs(clock.now());
    const latest = new Map(
      controls.map((control) => [control, create(EventSchema, { time, event: connected, control, value: 0 })]),
    );
    const feed = createFeed<Event>();
    return {
      getControls: async () => ({ controls: [...controls] }),
      getEvents: async () => ({ events: [...latest.values()] }),
      async triggerEvent({ event: sent }) {
        if (sent === undefined || !latest.has(sent.control))
          throw invalidValue('event.control', `one of ${controls.join(', ')}`, sent?.control);
        const event = { ...sent, time: sent.time ?? timestampFromMs(clock.now()) };
        latest.set(event.control, event);
        feed.add(event);
      },
      async *streamEvents({ events: wanted }, { signal }) {
        const isWanted = ({ control, event }: Event): boolean =>
          wanted.some(
            ({ control: of, events: kinds }) =>
              of === control &&
              (kinds.includes(event) ||
                kinds.includes('AllEvents') ||
                (kinds.includes(buttonChange) && (event === 'ButtonPress' || event === 'ButtonRelease'))),
          );
        for await (const event of feed.follow(isWanted, signal)) yield { event };
      },
      async getStatus() {
        const values = [...latest.values()].map(({ control, event, value }) => [control, { event, value }]);
        return { result: Object.fromEntries(values) };
      },
      async close() {
        feed.end();
      },
    };
  },
});
