/** What the script of a connect line fetches everything from; its steps are a quoted text. @param url of the line */
export async function baseOfScript(url: string): Promise<string> {
  const script = await (await fetch(url)).text();
  return /base='\\''([^'\\]+)/.exec(script)?.[1] ?? '';
}
