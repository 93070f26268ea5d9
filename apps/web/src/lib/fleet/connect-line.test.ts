import { expect, test } from 'vitest';
import { loopbackAdvice } from './connect-line.ts';

test.each(['http://127.0.0.1:8080', 'http://localhost:8080', 'https://[::1]:8080', 'http://cloud.localhost'])(
  'a cloud at %s says that machines elsewhere cannot reach it, how to change that, and what else changes',
  (url) => {
    const advice = loopbackAdvice(url);
    expect(advice).toContain('machines elsewhere cannot reach');
    expect(advice).toContain('--host 0.0.0.0');
    expect(advice).toContain('run a new line on machines that were connected at the old address');
  },
);

test.each(['https://cloud.example', 'https://192.168.1.7:8080', 'https://localhost.example', 'https://127.example'])(
  'a cloud at %s needs no such advice',
  (url) => expect(loopbackAdvice(url)).toBeUndefined(),
);
