// What tests/chromium.sh puts behind the script of a page that `hlo-lite graph` wrote: uses the page as a reader would and leaves in the
// title what was wrong, and the milliseconds from the start of the navigation to the end of the page's own script and layout.
const faults = [];
const opened = Math.round(performance.now());
function expect(holds, what) {
  if (!holds)
    faults.push(what);
}
function key(name, target = document.body, more = {}) {
  target.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, ...more}));
}
function click(element) {
  element.dispatchEvent(new MouseEvent('click', {bubbles: true}));
}

// Nothing that is written lies on something else that is written.
function overlaps() {
  const boxes = [...document.querySelectorAll('.p:not(.shut) .n, .p:not(.shut) .s, .k > .t')].map(element => {
    const box = element.getBoundingClientRect();
    return {element, left: box.left, right: box.right, top: box.top, bottom: box.bottom};
  });
  boxes.sort((a, b) => a.top - b.top);
  let count = 0;
  boxes.forEach((a, i) => {
    for (let k = i + 1; k < boxes.length && boxes[k].top < a.bottom - 1; k++)
      if (boxes[k].left < a.right - 1 && boxes[k].right > a.left + 1)
        count++;
  });
  return count;
}
function shapesInside() {
  return [...document.querySelectorAll('.k > rect')].every(rect => {
    const k = rect.getBoundingClientRect();
    return [...document.querySelectorAll('.s.i')].every(shape => {
      const s = shape.getBoundingClientRect(), middle = (s.left + s.right) / 2;
      return middle < k.left || middle > k.right || s.bottom < k.top || s.top > k.bottom || s.bottom <= k.bottom + 1;
    });
  });
}
const letter = document.querySelector('.n .l').getBoundingClientRect().height;
expect(letter >= 8, `letters of ${letter} pixels`);
expect(document.documentElement.scrollWidth <= innerWidth, 'the page is wider than the window');
expect(document.querySelectorAll('.n').length === data.nodes.length, 'nodes without data');
expect(overlaps() === 0, `${overlaps()} overlaps`);
expect(shapesInside(), 'a shape on the border of its kernel');

key('/');
expect(document.activeElement === search, 'no search by /');
search.value = data.nodes[data.nodes.length - 1][0];
search.dispatchEvent(new Event('input'));
expect(document.querySelectorAll('.hit').length > 0, 'nothing found');
key('Enter', search);
expect(!side.hidden && side.textContent.includes('instruction'), 'no text of an instruction');
expect(side.scrollWidth <= side.clientWidth, 'what a click tells is wider than its place');
const told = side.getBoundingClientRect(), bar = document.querySelector('header').getBoundingClientRect();
expect(told.left >= bar.right || told.top >= bar.bottom, 'what a click tells covers the search');
const shown = document.querySelector('.now').getBoundingClientRect();
expect(shown.right <= told.left || shown.bottom <= told.top, 'what a click tells covers the instruction');
key('Escape');
expect(side.hidden && !document.querySelector('.now'), 'Escape left something');

const kernel = document.querySelector('.k > rect');
moved = 0;
if (kernel) {
  click(kernel);
  expect(!side.hidden && side.textContent.includes('bytes'), 'no text of a kernel');
  expect(side.scrollWidth <= side.clientWidth, 'the loops are wider than their place');
}
for (const panel of panels) {
  const was = panel.classList.contains('shut');
  click(panel.querySelector(':scope > .t'));
  expect(panel.classList.contains('shut') !== was, 'a computation that does not open or shut');
  click(panel.querySelector(':scope > .t'));
}
const before = scale;
document.getElementById('in').click();
expect(scale > before, 'no zoom');
svg.dispatchEvent(new WheelEvent('wheel', {deltaY: 300, clientX: 100, clientY: 100}));
document.getElementById('fit').click();
const box = all.getBoundingClientRect();
expect(box.left >= -1 && box.right <= innerWidth + 1, 'fit does not');
document.title = faults.length ? `faults: ${[...new Set(faults)].join('; ')}` : `passed ${opened} ms`;
