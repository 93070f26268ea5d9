/** Ready-made pieces of code for a new API key. */
export interface Snippet {
  readonly name: string;
  readonly text: string;
}

/**
 * @param origin of the cloud, such as https://cloud.example.com
 * @param command that starts the command line
 */
export function snippetsOf(origin: string, id: string, key: string, command: string): readonly Snippet[] {
  const query = '{"sql": "SELECT count(*) AS readings FROM readings"}';
  return [
    {
      name: 'curl',
      text: `curl -H "key_id: ${id}" -H "key: ${key}" ${origin}/api/query \\\n  -H "content-type: application/json" -d '${query}'`,
    },
    {
      name: 'platform',
      text: `export PLATFORM_URL=${origin}\nexport PLATFORM_API_KEY_ID=${id}\nexport PLATFORM_API_KEY=${key}\n${command} machines list`,
    },
    {
      name: 'Python',
      text: [
        'import json, urllib.request',
        'request = urllib.request.Request(',
        `    "${origin}/api/query",`,
        `    data=json.dumps(${query}).encode(),`,
        `    headers={"key_id": "${id}", "key": "${key}", "content-type": "application/json"},`,
        ')',
        'print(json.load(urllib.request.urlopen(request)))',
      ].join('\n'),
    },
    {
      name: 'JavaScript',
      text: [
        `const answer = await fetch("${origin}/api/query", {`,
        '  method: "POST",',
        `  headers: { key_id: "${id}", key: "${key}", "content-type": "application/json" },`,
        `  body: JSON.stringify(${query}),`,
        '});',
        'console.log(await answer.json());',
      ].join('\n'),
    },
  ];
}
