/**
 * `core:builtin:fake`: a microphone that records a sine wave, as 16-bit PCM.
 *
 * Attributes: `frequency_hz` (default 440), `sample_rate_hz` (default 16000), `num_channels` (default 1). See fake-model.ts for `errors`
 * and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type AudioIn, audioIn } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  frequency_hz: { kind: 'float', default: 440, min: 0 },
  sample_rate_hz: { kind: 'int', default: 16_000, min: 1, max: 192_000 },
  num_channels: { kind: 'int', default: 1, min: 1, max: 16 },
} as const;

const codec = 'pcm16';
const chunkMs = 100;
const loudest = 0x7fff;

export const createFakeAudioIn: (clock: Clock) => Model = fakeModel<AudioIn, typeof fields>({
  type: audioIn,
  fields,
  make({ frequency_hz: frequencyHz, sample_rate_hz: sampleRateHz, num_channels: numChannels }, clock) {
    const samplesEach = Math.max(1, Math.round((sampleRateHz * chunkMs) / 1_000));
    const chunk = (sequence: number): Uint8Array<ArrayBuffer> => {
      const bytes = new Uint8Array(2 * numChannels * samplesEach);
      const view = new DataView(bytes.buffer);
      for (let at = 0; at < samplesEach; at++) {
        const seconds = (sequence * samplesEach + at) / sampleRateHz;
        const value = Math.round(loudest * Math.sin(2 * Math.PI * frequencyHz * seconds));
        for (let channel = 0; channel < numChannels; channel++)
          view.setInt16(2 * (at * numChannels + channel), value, true);
      }
      return bytes;
    };
    return {
      /** Ends after `duration_seconds`; 0: when the caller disconnects. */
      async *getAudio({ durationSeconds, codec: wanted, requestId }, { signal }) {
        if (wanted !== '' && wanted !== codec) throw invalidValue('codec', codec, wanted);
        const chunks =
          durationSeconds === 0
            ? Number.POSITIVE_INFINITY
            : Math.max(1, Math.round((durationSeconds * 1_000) / chunkMs));
        const startMs = clock.now();
        for (let sequence = 0; sequence < chunks; sequence++) {
          await clock.sleep(chunkMs, signal);
          const nanoseconds = (number: number): bigint => BigInt(startMs + number * chunkMs) * 1_000_000n;
          yield {
            requestId,
            audio: {
              audioData: chunk(sequence),
              audioInfo: { codec, sampleRateHz, numChannels },
              startTimestampNanoseconds: nanoseconds(sequence),
              endTimestampNanoseconds: nanoseconds(sequence + 1),
              sequence,
            },
          };
        }
      },
      getProperties: async () => ({ supportedCodecs: [codec], sampleRateHz, numChannels }),
    };
  },
});
