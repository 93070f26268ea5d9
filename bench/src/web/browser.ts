/** A headless Chromium, and scripts that run in its pages (as text, because this code knows no document). */
import { browserProgram } from '@platform/testkit';
import { type Browser, chromium, type Page } from 'playwright-core';

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
/** 1280 × 720. */
const viewport = { width: 1280, height: 720 };

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: browserProgram, args: flags });
}

/** A page of a browser without cache. @param signedInAs a page whose session it shares */
export async function newPage(browser: Browser, signedInAs?: Page): Promise<Page> {
  const storageState = await signedInAs?.context().storageState();
  const context = await browser.newContext({ viewport, ...(storageState && { storageState }) });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return page;
}

/** Intervals of `frames` frames in ms while the element scrolls back and forth by `stepPx` in each. */
export async function scrollFrames(
  page: Page,
  box: { readonly selector: string; readonly stepPx: number; readonly frames: number },
): Promise<readonly number[]> {
  return await page.evaluate<readonly number[]>(`(async () => {
    const { selector, stepPx, frames } = ${JSON.stringify(box)};
    const element = document.querySelector(selector);
    const times = [];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let [last, step] = [await frame(), stepPx];
    for (let count = 0; count < frames; count++) {
      const before = element.scrollTop;
      element.scrollTop += step;
      if (element.scrollTop === before) step = -step;
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    return times;
  })()`);
}

/** The time (ms since 1970) at which the page first shows the text. Resolves once it does. */
export async function timeOfText(page: Page, text: string): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    const shows = () => document.body.textContent.includes(${JSON.stringify(text)});
    const observer = new MutationObserver(() => {
      if (!shows()) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(Date.now()));
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  })`);
}

/** Time from the start of the navigation until the browser paints the first text. */
export async function firstContentMs(page: Page): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
}
