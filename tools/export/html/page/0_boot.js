// SPDX-License-Identifier: MIT
// The one script that stands in the page as it is. The others are data like the report, a third of
// their size, and become an inline element: the page's policy allows no other way to run them.
'use strict';

// Compressed data of the page, as text.
async function unpack(id) {
  const from = document.getElementById(id);
  if (!from) return null;
  const packed = Uint8Array.from(atob(from.textContent), c => c.charCodeAt(0));
  const stream = new DecompressionStream('deflate'), writer = stream.writable.getWriter();
  writer.write(packed);
  writer.close();
  return new Response(stream.readable).text();
}

// Views are hidden before the browser lays out all of them; a page that cannot begin stays a document.
if (typeof DecompressionStream !== 'undefined') {
  const {classList} = document.documentElement;
  classList.add('js');
  Promise.all(['script', 'report', 'data', 'diff'].map(name => unpack('battprof-' + name))).then(([script, ...texts]) => {
    const run = document.createElement('script');
    run.textContent = script;
    document.body.append(run);
    begin(...texts.map(text => JSON.parse(text)));
  }).catch(error => {
    classList.remove('js');
    throw error;
  });
}
