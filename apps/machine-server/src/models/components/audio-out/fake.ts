/**
 * `core:builtin:fake`: a loudspeaker that counts played sounds and their bytes (`bytes` and `plays` of its status).
 *
 * Attributes: `sample_rate_hz` (default 16000), `num_channels` (default 1). See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type AudioOut, audioOut } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  sample_rate_hz: { kind: 'int', default: 16_000, min: 1, max: 192_000 },
  num_channels: { kind: 'int', default: 1, min: 1, max: 16 },
} as const;

const codecs = ['pcm16'];

export const createFakeAudioOut: (clock: Clock) => Model = fakeModel<AudioOut, typeof fields>({
  type: audioOut,
  fields,
  make({ sample_rate_hz: sampleRateHz, num_channels: numChannels }) {
    let [plays, bytes] = [0, 0];
    const check = (codec = ''): void => {
      if (codec === '' || codecs.includes(codec)) return;
      throw invalidValue('audio_info.codec', codecs.join(', '), codec);
    };
    return {
      async play({ audioData, audioInfo }) {
        check(audioInfo?.codec);
        plays++;
        bytes += audioData.length;
      },
      async playStream(messages) {
        for await (const { payload } of messages) {
          if (payload.case === 'init') {
            check(payload.value.audioInfo?.codec);
            plays++;
          }
          if (payload.case === 'audioChunk') bytes += payload.value.audioData.length;
        }
      },
      getProperties: async () => ({ supportedCodecs: codecs, sampleRateHz, numChannels }),
      getStatus: async () => ({ result: { plays, bytes } }),
    };
  },
});
