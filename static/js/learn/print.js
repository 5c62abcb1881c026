// The hand-out's one button.

const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", () => print());
