import { expect, test } from 'vitest';
import { programSnippets, type SnippetLanguage, type SnippetTarget, snippetLanguages } from './program-snippets.ts';

const key = { id: 'the-id', secret: 'the-key' };
const target: SnippetTarget = {
  ...{ cloudUrl: 'https://cloud.example', partId: 'p', fqdn: 'p.machines.cloud.example', isMainPart: true },
  ...{ sensor: 'temp', sdk: { install: 'npm install sdk', run: 'node machine.mts' } },
};
const codeOf = (language: SnippetLanguage, changed: Partial<SnippetTarget> = {}): string =>
  programSnippets({ ...target, ...changed }, key).find((one) => one.language === language)?.code ?? '';

test('each program has the key, the machine and the sensor, and says how to run it', () => {
  const snippets = programSnippets(target, key);
  expect(snippets.map(({ language }) => language)).toEqual(snippetLanguages);
  for (const { code, file } of snippets) {
    for (const part of ['the-id', 'the-key', '"temp"']) expect(code).toContain(part);
    const head = code.split('\n').slice(0, 5).join('\n');
    expect(head).toContain(file.endsWith('.go') ? 'go run' : file);
    expect(code.endsWith('\n')).toBe(true);
  }
});

test('with a public certificate, the public SDKs dial the name of the machine: without the port 443, except in Go', () => {
  expect(codeOf('python')).toContain('at_address("p.machines.cloud.example", options)');
  expect(codeOf('go')).toContain('"p.machines.cloud.example:443"');
  expect(codeOf('typescript-browser')).toContain('createRobotClient({');
  expect(codeOf('typescript-browser')).toContain('signalingAddress: "https://cloud.example"');
  for (const language of ['python', 'go'] as const)
    expect(codeOf(language, { cloudUrl: 'https://cloud.example:8443/', fqdn: 'p.machines.cloud.example:9' })).toContain(
      '"p.machines.cloud.example:8443"',
    );
  for (const { code } of programSnippets(target, key)) expect(code).not.toMatch(/insecure|ca\.pem|etc\/hosts/i);
});

test('on the computer of the cloud they dial localhost, where the key names the machine; other parts need a name', () => {
  const local = { cloudUrl: 'http://127.0.0.1:8080', fqdn: 'p.machines.internal' };
  expect(codeOf('python', local)).toContain('at_address("localhost:8080", options)');
  expect(codeOf('python', local)).toContain('insecure=True');
  expect(codeOf('go', local)).toContain('"localhost:8080"');
  expect(codeOf('go', local)).toContain('rpc.WithInsecure()');
  expect(codeOf('typescript-browser', local)).toContain('host: "http://localhost:8080"');
  const other = { ...local, isMainPart: false };
  for (const language of ['python', 'go'] as const) {
    expect(codeOf(language, other)).toContain('"p.machines.internal:8080"');
    expect(codeOf(language, other)).toContain('/etc/hosts needs this line: 127.0.0.1 p.machines.internal');
  }
  expect(codeOf('typescript-browser', other)).toContain('host: "p.machines.internal"');
  for (const language of ['typescript-node', 'curl'] as const)
    expect(codeOf(language, other)).toBe(codeOf(language, local));
});

test("all of them trust the file of the cloud's own authority", () => {
  for (const { code } of programSnippets({ ...target, caFile: 'ca.pem' }, key)) expect(code).toContain('ca.pem');
});

test('without a sensor they only list the resources', () => {
  for (const { code } of programSnippets({ ...target, sensor: undefined }, key)) expect(code).not.toMatch(/sensor/i);
});

test('no name of a sensor or file breaks out of its text', () => {
  const hostile = `</script>'"\\$(id)\n`;
  for (const { code, language } of programSnippets({ ...target, sensor: hostile, caFile: hostile }, key)) {
    if (language === 'typescript-browser') expect(code.match(/<\/script>/g)).toHaveLength(2);
    if (language === 'curl') expect(code).toContain(`'{"name":"</script>'\\''\\"\\\\$(id)\\n"}'`);
    else expect(code).toContain(String.raw`"\u003c/script\u003e'\"\\$(id)\n"`);
  }
});
