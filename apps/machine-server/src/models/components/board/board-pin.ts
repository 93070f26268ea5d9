/** One pin of a board, for the models that use it: the board may be of any model, even in another process. */
import { create } from '@bufbuild/protobuf';
import {
  SetGPIORequestSchema,
  SetPWMFrequencyRequestSchema,
  SetPWMRequestSchema,
} from '@platform/proto/platform/component/board/v1/board';
import type { Board } from '@platform/resources';

export interface BoardPin {
  set(high: boolean): Promise<void>;
  /** 0 to 1. */
  setDuty(duty: number): Promise<void>;
  setFrequency(hz: number): Promise<void>;
}

export function boardPin(board: Board, pin: string): BoardPin {
  // A call is never abandoned: a pin that was set low must go low.
  const { signal } = new AbortController();
  return {
    async set(high) {
      await board.setGPIO(create(SetGPIORequestSchema, { pin, high }), { signal });
    },
    async setDuty(dutyCyclePct) {
      await board.setPWM(create(SetPWMRequestSchema, { pin, dutyCyclePct }), { signal });
    },
    async setFrequency(hz) {
      await board.setPWMFrequency(create(SetPWMFrequencyRequestSchema, { pin, frequencyHz: BigInt(Math.round(hz)) }), {
        signal,
      });
    },
  };
}
